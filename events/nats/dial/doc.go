// Package dial connects to NATS: by URL, with every kind of credentials, with TLS and mutual TLS, and with contexts of
// the command line tool nats.
//
//	config, err := dial.Config{Context: "prod", Name: "jobledger"}.Load() // reports local errors
//	conn, err := config.Connect()                                        // connects in the background
//
// Invariants:
//
//   - A local problem (a missing context, unreadable credentials) is an error at once. A remote problem (no server,
//     refused credentials) is not: the connection is retried for ever, with a backoff and jitter, so that many clients
//     do not reconnect at once.
//   - No flag holds a secret, because every user of the machine can see flags. Passwords and tokens are in a context or
//     a URL, keys are in files.
//   - A setting of a context that is not supported is an error if ignoring it would change the address or the user.
//
// Read config.go first, then context.go.
package dial
