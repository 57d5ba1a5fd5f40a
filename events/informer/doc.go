// Package informer turns lists and watches of Jobs, pods and CronJobs into observations, and does nothing else.
//
// An [Informer] lists and watches these resources. It selects the objects that concern the Jobs that this controller
// runs or observes (design §9), and passes one observation at a time to a [Sink]:
//
//	inf, err := informer.New(informer.Config{Client: client, Mode: events.ModeDelegated, Key: key, Sink: loop})
//	err = inf.Run(ctx) // until ctx ends
//
// A first list of one Job and one pod gives: JobSeen, Synced (jobs), PodSeen, Synced (pods).
//
// Invariants:
//
//   - The versions of an object, by UID, only increase in what the sink gets, except after a proven rewind of the
//     cluster.
//   - A listing is complete: ListingStarted, an observation for each object, one for each known object that is missing,
//     and Synced. The loop itself writes the ListingStarted of a start.
//   - Nothing is dropped. While the sink is busy, a newer observation of an object replaces the waiting one. A deletion
//     is never replaced, and never replaces the observation that a pod has ended.
//   - A pod that belongs to no Job of ours and has no finalizer of ours is not reported. A pod that was reported once
//     is reported until it is deleted.
//   - No environment value, argument, command or annotation value of a pod template leaves this package, except to the
//     [Keeper], which needs the template to make pods.
//
// Shared informers would hide relists and cache every object. This package instead runs client-go's Reflector with
// stores of its own. Of a pod they keep UID, version and owner, and its facts only as long as a Job may still appear
// that makes the pod ours. The logic is in [Feed], a state machine without client or goroutines, which the simulation
// drives step by step.
//
// # Concurrency
//
// One goroutine per resource reads the watch, and one calls the sink, so a slow sink never delays a watch. All
// resources share one feed with one lock. The list of Jobs is taken before that of pods, so a pod nearly always finds
// its owner; see listing.go.
//
// Read informer.go first, then feed.go, resource.go and route.go.
package informer
