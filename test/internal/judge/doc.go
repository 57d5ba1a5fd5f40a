// Package judge compares Jobledger's answers about staged situations with the truth. The test that staged a situation
// knows the truth and wrote it down.
//
// A test keeps a log and, beside it, truth.json with one [Told] for each situation. [All] asks the log about every Job,
// pod and CronJob of the situations, as of the end of each:
//
//	judge.All(t, dir) // dir/log, dir/truth.json
//
// A situation is missed if an answer lacks the words for its cause. It is false if an answer claims another cause: each
// cause has signatures, see signs.go. Package explaintest checks all answers, too.
//
// It is used by test/incidents, where the test acts as the kubelet, and by test/node/situations, where a real kubelet
// runs.
//
// Read next: told.go for the truth.
package judge
