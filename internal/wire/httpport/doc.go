// Package httpport serves HTTP on a port that other machines can reach. It has limits: however many clients connect,
// and however slowly they send, its memory stays bounded, and correct requests are answered.
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
// A Server is run by one goroutine and closed by any. Handlers run at the same time.
package httpport
