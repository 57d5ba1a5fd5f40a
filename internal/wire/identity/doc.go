// Package identity authenticates users over HTTP and says which namespaces they may read. The API server decides both.
//
//	id := identity.New(identity.Config{Client: client})
//	go id.Run(ctx)
//	user, err := id.User(r)                      // a bearer token, or a client certificate of the cluster
//	right, err := id.MayRead(ctx, user, "prod")  // 'list jobs' in prod
//
// The user comes from a TokenReview, or from a client certificate signed by the CA in the ConfigMap
// kube-system/extension-apiserver-authentication. The package never reads headers of proxies, such as X-Remote-User.
// Reading a namespace takes the right to list Jobs in it. Reading all namespaces, a deleted namespace, or records older
// than the namespace takes that right in all namespaces.
//
// # Bounds
//
// The API server gets at most four questions at a time and 100 per second, however many tokens clients invent, with 5 s
// for each. An answer is used for 10 s, so a revoked right lasts up to 10 s longer. The CA is read again every minute;
// from then on, certificates of a removed CA are refused.
//
// # Concurrency
//
// An Identity is safe for concurrent use. Run ends with its context.
package identity
