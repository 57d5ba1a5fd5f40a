// Package httpport serves HTTP on a port that others can reach, with bounds: however many clients connect and however
// slowly they send, its memory is bounded, and proper requests are answered.
//
//   - At most Config.Connections are open. One more closes the connection that has been idle longest.
//   - A request must arrive within ten seconds, and an idle connection is closed after one minute.
//   - Errors of the server go to the logger, not to standard error.
//
// [Certificate] serves TLS with files that may change, [Made] with a certificate of its own. [Delegated] asks the API
// server who may read what.
//
// # Concurrency
//
// A Server is run by one goroutine and closed by any. Handlers run at the same time.
package httpport
