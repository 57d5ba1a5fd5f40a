// Package informer turns what the API server says about Jobs and Pods into observations, and does nothing else.
//
// It lists and watches both, tells apart what concerns the Jobs that this controller runs (design §9) from what does
// not, and hands each observation to a [Sink], one at a time. Invariants:
//
//   - The versions of an object, by UID, only go forward in what the sink is told, but across a proven rewind.
//   - Every listing is seen as one: ListingStarted, an observation for each object and for each that is missing from
//     it, Synced. The loop itself writes the ListingStarted of a start.
//   - Nothing is dropped. While the sink is busy, an object's undelivered observation gives way to its newer one;
//     deletions and the facts of ended pods are never given up for that.
//   - Pods of nobody we manage, without our finalizer, are not told. A pod that was told once is told until it is gone.
//   - No environment value, argument, command or annotation value of a pod template leaves this package, but to the
//     [Keeper], which needs the template to make pods.
//
// Shared informers would hide relists and keep every object. This package feeds client-go's Reflector into stores of
// its own, which keep of a pod its UID, version and owner, and of one that may yet turn out to be ours its facts. All
// of that is in [Feed], a step machine without client or goroutine, which the simulation drives by hand.
//
// # Concurrency
//
// One goroutine for each resource reads the watch; one more calls the sink, so a slow sink never slows the watch. The
// resources share one feed under one lock. The list of Jobs is taken before that of Pods, so a pod nearly always finds
// its owner; see listing.go.
//
// Read informer.go first, then feed.go, resource.go and route.go.
package informer
