// Package httpport serves HTTP on a port that others can reach, within bounds: however many connect, and however slowly
// they ask, it takes so much memory and no more, and who asks properly is answered.
//
//   - At most Config.Connections are open. One more closes the one that has been silent longest.
//   - A request has to come within ten seconds, and a connection without one is closed after a minute.
//   - What the server has to say of this goes to the logger, not to standard error.
//
// [Certificate] serves TLS from files that may change, [Made] with a certificate of its own, and [Delegated] asks the
// API server who may read what.
//
// # Concurrency
//
// A Server is run by one goroutine and closed by any. Handlers run at the same time.
package httpport
