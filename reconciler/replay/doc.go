// Package replay decides again from a log and reports where it comes to another decision.
//
// A batch is replayed whole: its inputs are folded, each Job they touched is decided as the loop did, the decisions are
// compared byte for byte with those of the batch, and then the batch's own decisions are folded. So a decision that was
// wrongly not made is found like one that was wrongly made; and when the time at which a Job wanted to be decided again
// passes without a decision, the probe that the loop should have made is made.
//
// The package is pure: it is handed records, and returns differences.
package replay
