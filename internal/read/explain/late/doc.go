// Package late says what Jobledger did or saw late, and why: it did not watch, it stood still, or it was behind. It
// reports a delay only if records prove the cause.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package late
