// Package incidents plays the incidents that people ask about afterwards, on a real control plane, and records what
// Jobledger writes down of them: once while it runs the Jobs itself, once while it observes the built-in Job
// controller.
//
// The recorded logs are in examples/incidents, each with a file truth.json beside it. The truth is not read from the
// log. It comes from the scripts, which know what they did, from the watches of the test, and from the API server's
// audit log, which knows who asked for what.
//
// Invariants:
//
//   - Each incident has a namespace of its own. One may not touch the others: nodes that it loses or taints take no other pods, and
//     the controller is killed only when all other incidents are over.
//   - Users act by impersonation: the API server sees maria and tom.
//   - The programs that play: kube-apiserver, kube-scheduler, the controllers of kube-controller-manager, kwok in the place of
//     kubelets. Where a script writes what one of them would have written, the truth says so ("played").
//
// The generator (gen_*_test.go) stages hundreds of small situations: cause, shape of the Job, phase and mode from a
// table. What staged one writes its truth, in regular expressions; no word of another cause may stand in an answer. Its
// logs stay in bin/generated, and -again judges them once more. A few dozen are kept in testdata/generated
// (-keep-generated stages them anew), and judged by each make test.
//
// Read next: gen_rows_test.go for the situations, table_test.go for the incidents, record_test.go for a recording,
// truth_test.go for what the truth holds.
package incidents
