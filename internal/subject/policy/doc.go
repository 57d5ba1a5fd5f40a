// Package policy reads the podFailurePolicy and the successPolicy of a Job, and finds the rule that decides about a
// failed pod (J-127 to
// J-131). [Policies] never change once they are read, so Jobs of one spec share them. Read on in package projector
// (podfacts.go, perindex.go), which folds what a rule says of a pod.
//
// # Concurrency
//
// Policies may be read by several goroutines.
package policy
