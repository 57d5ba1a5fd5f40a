// Package situations stages situations of the generator (test/incidents) with a real kubelet: containers exit, are
// killed and run out of memory, images cannot be pulled, probes fail, nodes go away. First Jobledger runs the Jobs,
// then it observes the built-in controller.
//
// A run has two results:
//
//   - Jobledger's answers, which package judge compares with the truth, as for the generator. The code that stages a
//     situation writes down its truth.
//   - What the kubelet wrote into pod statuses, as lines (see package causes). They are compared with
//     testdata/words.txt of that package; -update writes them there. The test of package causes compares the
//     generator's lines with that file. So a new version of Kubernetes with other messages is noticed first here and
//     then there.
//
// TestSituations needs root on Linux and JOBLEDGER_LONG=1; see package node for the rest. -update also keeps the logs
// in testdata, and each make test judges them.
//
// Read next: rows.go for the situations.
package situations
