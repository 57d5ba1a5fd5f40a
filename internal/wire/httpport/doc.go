// Package httpport serves HTTP on a port that other machines can reach. However many clients connect, and however
// slowly they send, its memory stays bounded, and correct requests are answered.
//
//	server, err := httpport.Listen(httpport.Config{Address: ":8443", Handler: handler, TLS: tls})
//	err = server.Run() // until Shutdown
//
// Its limits:
//
//   - At most Config.Connections are open. One more closes the connection that has been idle longest.
//   - A request must arrive within ten seconds, and an idle connection is closed after one minute.
//   - Errors of the server go to the logger, not to standard error.
//
// [Certificate] serves TLS with certificate files that may change, and [Made] with a certificate that the process makes
// itself. [Delegated] asks the API server which client may read what.
//
// # Concurrency
//
// One goroutine calls Run; any may call Shutdown. Handlers run at the same time.
package httpport
