// Package finding connects a user, who has only a kubeconfig, to the reader of a cluster. The reader is the process
// 'jobledger serve', which answers the questions of many users.
//
//	reader, err := finding.Find(ctx, finding.Config{Loader: loader, Namespace: finding.Namespace})
//	client := serve.NewReaderClient(reader)
//
// The reader publishes its address in a ConfigMap ([Publisher]). Find reads this [Entry]. Then it connects in one of
// two ways:
//
//   - to the address for users, if an administrator has written one into the ConfigMap;
//   - else through a port-forward to the reader's pod, by way of the API server. Each connection is a stream of that
//     port-forward, so no port is opened on the user's machine.
//
// Invariants:
//
//   - A connection is TLS, and its certificate is checked against the CA of the Entry. A request, with its credentials,
//     is sent only on a checked connection.
//   - The credentials are those of the kubeconfig's context. A bearer token, also one from a plugin, is sent with each
//     request. A client certificate is used in the TLS handshake, which a port-forward passes on. A kubeconfig with a
//     password or with impersonation is refused, because the reader does not accept either.
//   - After a restart the reader has another pod and another CA. So if a connection fails, the Entry is read again.
//
// # Concurrency
//
// A reader that Find returned is safe for concurrent use. One goroutine runs a Publisher.
//
// Read entry.go first, then find.go and forward.go.
package finding
