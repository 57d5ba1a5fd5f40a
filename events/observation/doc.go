// Package observation turns lists and watched changes of Jobs, pods and CronJobs into observations, without a client of
// its own.
//
// A [Feed] is a state machine. It selects the objects that concern the Jobs that this controller runs or observes
// (design §9). Its caller gives it what lists and watches bring, and takes one observation at a time:
//
//	feed := observation.NewFeed(observation.Config{Mode: events.ModeDelegated, Key: key})
//	err := feed.ListJobs(jobs, "7") // a complete list, at its resourceVersion
//	err = feed.ListPods(pods, "7")
//	err = feed.PodChanged(pod) // from the watch
//	o, ok := feed.Take()
//
// A first list of one Job and one pod gives: JobSeen, Synced (jobs), PodSeen, Synced (pods).
//
// Package informer, beside it, calls the same feed through its resources ([Resource]), with the lists and watches of an
// API server. The simulation drives a feed step by step. Nothing here imports client-go, which is large: each test of
// the simulation would link it.
//
// Invariants:
//
//   - The versions of an object, by UID, only increase in what is reported, except after a proven rewind of the
//     cluster.
//   - A listing is complete: ListingStarted, an observation for each object, one for each known object that is missing,
//     and Synced. The loop itself writes the ListingStarted of a start.
//   - Nothing is dropped. While observations wait, a newer observation of an object replaces the waiting one. A deletion
//     is never replaced, and never replaces the observation that a pod has ended.
//   - A pod that belongs to no Job of ours and has no finalizer of ours is not reported. A pod that was reported once
//     is reported until it is deleted.
//   - No environment value, argument, command or annotation value of a pod template leaves this package, except to the
//     [Keeper], which needs the template to make pods.
//
// A feed caches no objects. Of a pod it keeps UID, version and owner, and its facts only as long as a Job may still
// appear that makes the pod ours.
//
// # Concurrency
//
// No goroutine is started here. Any goroutine may call a feed; all its resources share one lock. The list of Jobs is
// taken before that of pods, so a pod nearly always finds its owner; see listing.go.
//
// Read feed.go first, then resources.go, resource.go and route.go.
package observation
