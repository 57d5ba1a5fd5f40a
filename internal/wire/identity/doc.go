// Package identity authenticates users of an HTTP server, and says which namespaces they may read. The API server
// decides both.
//
//	id := identity.New(identity.Config{Client: client})
//	go id.Run(ctx)
//	user, err := id.User(r)                      // a bearer token, or a client certificate of the cluster
//	right, err := id.MayRead(ctx, user, "prod")  // 'list jobs' in prod
//
// The user comes from a TokenReview, or from a client certificate signed by the CA in the ConfigMap
// kube-system/extension-apiserver-authentication. The package never reads headers of proxies, such as X-Remote-User.
// To read a namespace, a user needs the right to list Jobs in it. To read all namespaces, a deleted namespace, or
// records that are older than the namespace, a user needs that right in all namespaces.
//
// # Limits
//
// The API server gets at most four requests at a time and 100 per second, however many tokens clients invent. Each
// request may take 5 s. An answer is used for 10 s, so a revoked right lasts up to 10 s longer. The CA is read again
// every minute; from then on, certificates of a removed CA are refused.
//
// # Concurrency
//
// An Identity is safe for concurrent use. Run ends with its context.
package identity
