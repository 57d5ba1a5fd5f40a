// Package incidents stages incidents that people ask about later, on a real control plane, and records Jobledger's log
// of them: once while Jobledger runs the Jobs, once while it observes the built-in Job controller.
//
// The recorded logs are in examples/incidents, each with a file truth.json beside it. The truth does not come from the
// log. It comes from the scripts, which know what they did, from the watches of the test, and from the API server's
// audit log, which knows who requested what.
//
// Invariants:
//
//   - Each incident has its own namespace, and must not affect the others: nodes that it loses or taints take no other
//     pods. The controller is killed only when all other incidents are over.
//   - Users are impersonated: the API server sees maria and tom.
//   - These programs run: kube-apiserver, kube-scheduler, the controllers of kube-controller-manager, and kwok in place
//     of kubelets. If a script writes in place of one of them, the truth says so ("played").
//
// The generator (gen_*_test.go) stages hundreds of small situations: cause, shape of the Job, phase and mode come from
// a table. The code that stages a situation writes its truth as regular expressions. An answer must not contain words
// of another cause. Its logs stay in bin/generated, and -again judges them once more. A few dozen are kept in
// testdata/generated, and judged by each make test; -keep-generated stages them again.
//
// Read next: gen_rows_test.go for the situations, table_test.go for the incidents, record_test.go for a recording,
// truth_test.go for the content of the truth.
package incidents
