// Package replay makes the decisions of a log again, and reports where the results differ from the recorded ones:
//
//	r := replay.New()
//	for rec := range records {
//		divergences, err := r.Record(rec)
//	}
//
// It replays one batch at a time. It applies the inputs to the state, decides for each subject that they touched,
// compares the decisions byte for byte with the recorded ones, and then applies the recorded ones. So it finds missing
// decisions as well as wrong ones. If a wake-up time passes without a decision, it makes the evaluation that the loop
// should have made.
//
// The package is pure: it takes records, returns differences, and does no I/O.
package replay
