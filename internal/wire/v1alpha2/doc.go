// Package v1alpha2 is what Kubernetes 1.36 calls a Workload and a PodGroup: scheduling.k8s.io/v1alpha2, as far as
// Jobledger uses them.
//
// Only Kubernetes 1.36 serves this version, and the libraries of Kubernetes 1.37 have no types for it any more. The
// objects are read and sent as JSON:
//
//	body, err := json.Marshal(w.Sent())
//
// Fields that the types lack are lost where an object is read. So an object of the server is never sent back. What a
// PodGroup takes from its template is the policy, which is here as 1.36 has it.
//
// # Concurrency
//
// Values; nothing is shared.
package v1alpha2
