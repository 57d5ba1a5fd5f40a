// Package apiserver is a model of the part of kube-apiserver that a controller of Jobs and CronJobs meets: CronJobs,
// Jobs, Pods, Leases and Namespaces with resource versions, finalizers, graceful deletion, watches and the validation
// of Job statuses.
//
// It is a step machine. Nothing happens between two calls: there are no goroutines, the time is a virtual clock's, UIDs
// and generated names come from the random source handed in, and the steps of other controllers (garbage collector, pod
// garbage collector, namespace controller) run when they are asked to. The same seed and the same calls give the same
// objects, versions and events.
//
// What holds:
//
//   - One resource version for all kinds, increased by one at each write. A write that changes nothing is no write.
//   - A stored object is never changed in place; what callers get is a copy.
//   - Objects pass through JSON on their way in, as over the wire: times have a resolution of one second.
//   - Errors are k8s.io/apimachinery/pkg/api/errors status errors, with the causes a client looks at.
//
// Faults are choices of the caller ([Client.Faults], [Client.FailNext]), never the server's own. One choice is to let
// objects ask for them ([Server.AnnotatedFaults]). Every write is kept in a log with the object before and after
// ([Server.Writes]), every call with its answer ([Server.Calls]). A test that needs a cluster which has run for a while
// loads its objects ([Server.Load]).
//
// Where it is smaller than the real one: no managed fields, no admission but quota and webhook refusals on request, no
// bookmarks, no server-side apply; of the pod's spec only what a Job controller sets is defaulted and validated.
//
// # Concurrency
//
// One goroutine owns a Server and everything made from it.
package apiserver
