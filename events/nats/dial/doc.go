// Package dial connects to NATS as its users expect: by URLs, by credentials of every sort that NATS knows, over TLS
// and mutual TLS, and by the contexts of the command line tool nats.
//
// Invariants:
//
//   - What is wrong on this machine (a context that does not exist, credentials that cannot be read) is an error at once.
//     What is wrong elsewhere (no server, refused credentials) is not: the connection is tried again for ever, with a
//     pause that grows and varies, so that many clients do not come back in step.
//   - No secret is taken from a flag, where every user of the machine sees it: passwords and tokens stand in a context or a
//     URL, keys in files.
//   - A setting of a context that is not understood here is an error when it would change where or as whom one connects.
//
// Read config.go first, then context.go.
package dial
