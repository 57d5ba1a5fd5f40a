// Package judge holds what is said of staged situations against the truth, which was written by what staged them.
//
// A test keeps a log and, beside it, truth.json: one [Told] for each situation. [All] asks the log for every Job, pod
// and CronJob of these, as of when the situation was over:
//
//	judge.All(t, dir) // dir/log, dir/truth.json
//
// A situation is missed where an answer lacks the words of its cause. It is false where an answer has words of another
// cause: each cause has signatures, see signs.go. All answers are checked by package explaintest, too.
//
// Used by test/incidents, where the test plays the kubelet, and by test/node/situations, where a kubelet runs.
//
// Read next: told.go for the truth.
package judge
