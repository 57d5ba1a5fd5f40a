// Package v1alpha2 has the Workload and the PodGroup of Kubernetes 1.36 (scheduling.k8s.io/v1alpha2), with the fields
// that Jobledger uses.
//
// Only Kubernetes 1.36 serves this version, and the libraries of Kubernetes 1.37 no longer have its types. The objects
// are read and sent as JSON:
//
//	body, err := json.Marshal(w.Sent())
//
// Decoding an object loses the fields that these types lack, so an object from the server is never sent back. A
// PodGroup takes only the policy from its template, and these types have all fields of a policy in 1.36.
//
// # Concurrency
//
// The types are values and share nothing.
package v1alpha2
