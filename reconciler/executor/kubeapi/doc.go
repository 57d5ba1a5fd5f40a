// Package kubeapi makes the executor's requests with client-go.
//
// Each method makes one request. The retries of client-go (up to ten, after 429 and 5xx answers) are off, because
// retries are for the controller to decide. For the same reason the clientset should have no rate limit of its own: set
// QPS to -1 in the rest.Config from which it is made.
//
// # Concurrency
//
// A [Client] is safe for concurrent use.
package kubeapi
