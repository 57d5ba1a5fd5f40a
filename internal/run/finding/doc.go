// Package finding connects a user to the reader of a cluster (jobledger serve), with nothing but a kubeconfig.
//
//	reader, err := finding.Find(ctx, finding.Config{Loader: loader, Namespace: finding.Namespace})
//	client := serve.NewReaderClient(reader)
//
// The reader publishes in a ConfigMap how it is reached ([Publisher]). Find reads this [Entry], and then
//
//   - connects to its address, if an administrator has given one;
//   - else opens a port-forward to the reader's pod, through the API server. Each connection is a stream of that
//     port-forward, so no port is opened on the user's machine.
//
// Invariants:
//
//   - A connection is TLS, and its certificate is checked against the CA of the Entry. A request, with its credentials,
//     is sent only on a checked connection.
//   - The credentials are those of the kubeconfig's context: a bearer token, also of a plugin, goes into each request; a
//     client certificate into the TLS handshake, which a port-forward passes on. A kubeconfig with a password or with
//     impersonation is refused, because the reader believes neither.
//   - The reader may restart, and has another pod and CA then. The next connection reads the Entry again.
//
// # Concurrency
//
// A reader that Find returned is safe for concurrent use. One goroutine runs a Publisher.
//
// Read entry.go first, then find.go and forward.go.
package finding
