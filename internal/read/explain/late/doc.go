// Package late says what Jobledger did or saw late, and why if records prove it: nobody watched, it stood still, or
// it was behind. A delay without a proof is not reported.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package late
