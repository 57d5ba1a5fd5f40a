// Package policy parses the podFailurePolicy and successPolicy of a Job, and finds the rule that applies to a failed
// pod (J-127 to J-131). [Policies] are immutable, so Jobs with the same spec share them. Package projector
// (podfacts.go, perindex.go) applies the rule to the Job's state.
//
// # Concurrency
//
// Policies are safe for concurrent use.
package policy
