// Package kubeapi makes the executor's requests with client-go.
//
// Each method is one request: client-go's own retries (up to ten, of 429 and 5xx answers) are off, because how often to
// ask, and whether at all, is the executor's to say. For the same reason the clientset should have no rate limit of its
// own: set QPS to -1 in the rest.Config that it is made from.
//
// # Concurrency
//
// A [Client] is safe for concurrent use.
package kubeapi
