// Package judge compares the answers about staged situations with the truth, which the test that staged them wrote
// down.
//
// A test keeps a log and, beside it, truth.json with one [Told] for each situation. [All] asks the log for every Job,
// pod and CronJob of these, as of the end of the situation:
//
//	judge.All(t, dir) // dir/log, dir/truth.json
//
// A situation is missed if an answer lacks the words of its cause. It is false if an answer has words of another cause:
// each cause has signatures, see signs.go. Package explaintest checks all answers, too.
//
// Used by test/incidents, where the test plays the kubelet, and by test/node/situations, where a kubelet runs.
//
// Read next: told.go for the truth.
package judge
