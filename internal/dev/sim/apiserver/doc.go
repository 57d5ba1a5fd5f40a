// Package apiserver models the part of kube-apiserver that a controller of Jobs and CronJobs uses: CronJobs, Jobs,
// Pods, Leases and Namespaces with resource versions, finalizers, graceful deletion, watches and the validation of Job
// statuses.
//
// It is a step machine. Nothing happens between two calls: there are no goroutines, the time is that of a virtual
// clock, UIDs and generated names come from the given random source, and the steps of other controllers (garbage
// collector, pod garbage collector, namespace controller) run on request. The same seed and the same calls give the
// same objects, versions and events.
//
// Invariants:
//
//   - All kinds share one resource version. Each write raises it by one. A write that changes nothing is no write.
//   - A stored object is never changed in place; callers get copies.
//   - Objects pass through protobuf on their way in, as over the wire: times have a resolution of one second.
//   - Errors are status errors of k8s.io/apimachinery/pkg/api/errors, with the causes that clients examine.
//
// The caller chooses faults ([Client.Faults], [Client.FailNext]); the server never does. Objects can ask for faults,
// too ([Server.AnnotatedFaults]). The server logs every write with the object before and after it ([Server.Writes]),
// and every call with its answer ([Server.Calls]). A test that needs a cluster with a history loads its objects
// ([Server.Load]).
//
// Differences from a real server: no managed fields, no admission except quota and webhook refusals on request, no
// bookmarks, no server-side apply. Of the pod's spec it defaults and validates only the fields that a Job controller
// sets.
//
// # Concurrency
//
// One goroutine owns a Server and everything made from it.
package apiserver
