// Package informer lists and watches Jobs, pods and CronJobs on an API server, and passes on what is seen of them.
//
// An [Informer] gives the objects to a feed of package observation, which decides what is reported. It passes one
// observation at a time to a [Sink]:
//
//	inf, err := informer.New(informer.Config{
//		Client: client, Sink: loop, Feed: observation.Config{Mode: events.ModeDelegated, Key: key},
//	})
//	err = inf.Run(ctx) // until ctx ends
//
// [Surroundings] does the same for nodes and namespaces, whose observations are for people.
//
// Invariants, beside those of the feed:
//
//   - A list is never of arbitrary age: it is of the newest state, or not older than what was seen.
//   - While the watch of a resource is interrupted, nothing is sure; see [Informer.Sure].
//   - A busy sink holds up no watch.
//
// Shared informers would hide relists and cache every object. This package instead runs client-go's Reflector with
// stores of its own, which keep nothing.
//
// # Concurrency
//
// One goroutine per resource reads the watch, and one calls the sink, so a slow sink never delays a watch. All
// resources share one feed with one lock.
//
// Read informer.go first, then resources.go, source.go and store.go.
package informer
