// Package replay repeats the decisions of a log and reports where the result differs:
//
//	r := replay.New()
//	for rec := range records {
//		divergences, err := r.Record(rec)
//	}
//
// It replays a whole batch at a time: it folds the inputs, decides for each subject that they touched, compares the
// decisions byte for byte with the recorded ones, and then folds the recorded ones. So it finds missing decisions as
// well as wrong ones. If a wake-up time passes without a decision, it makes the probe that the loop should have made.
//
// The package is pure: it takes records and returns differences.
package replay
