// Package situations stages situations of the generator (test/incidents) with a real kubelet: programs exit, are killed
// and run out of memory, images cannot be pulled, probes fail, nodes go away. Jobledger runs the Jobs, and then looks
// on while the built-in controller does.
//
// Two things come of a run:
//
//   - Answers are judged as those of the generator are, by package judge: what staged a situation writes its truth.
//   - The words of the kubelet, see package causes. They are compared with testdata/words.txt of that package; -update writes them there.
//     The test of package causes holds the words that the generator plays against these. So a new version of Kubernetes shows where it
//     speaks otherwise: here first, then there.
//
// TestSituations needs root on Linux and JOBLEDGER_LONG=1 (package node says what else). -update keeps the logs in
// testdata, too, which each make test judges.
//
// Read next: rows.go for the situations.
package situations
