// Package identity says who asks over HTTP, and which namespaces they may read: the API server decides both.
//
//	id := identity.New(identity.Config{Client: client})
//	go id.Run(ctx)
//	user, err := id.User(r)                      // a bearer token, or a client certificate of the cluster
//	right, err := id.MayRead(ctx, user, "prod")  // 'list jobs' in prod
//
// A user is who a TokenReview says, or who a client certificate names that is signed by the CA of clients in the
// ConfigMap kube-system/extension-apiserver-authentication. Headers of proxies, such as X-Remote-User, are never read.
// To read a namespace takes the right to list Jobs there. All namespaces, one that is gone, and records older than the
// namespace take that right in all.
//
// # Bounds
//
// The API server is asked four questions at a time and 100 in a second at most, however many tokens are made up, and
// each within 5 s. An answer is believed for 10 s: so long a right that was taken away is still had. The CA is read again
// each minute, and certificates of one that it has no longer are refused from then on.
//
// # Concurrency
//
// An Identity is safe for concurrent use. Run ends with its context.
package identity
