// Command conformance ties each rule of the contracts (docs/contract) to the tests that fail when it is broken. It
// writes docs/conformance.md, and a page below docs/conformance for each section. It also reports citations, anywhere
// in the tree, of rules and parts of docs/design.md that do not exist, and invariants of the design that no test cites.
// Its sources are the contracts, rules.txt (a title for each rule, and a reason for each rule that needs no test),
// differences.md (the intended differences from the built-in controller) and the tests. A test says what it proves at
// the place of the proof:
//
//	// J-085: the status write that names the pod is confirmed before its finalizer goes.
//
// The line stands in a test's doc comment, in its body, beside a row of its table or, with # for //, in a script under
// testdata. It continues to the end of its paragraph. "J-061, J-062" and "J-061 to J-068" name several rules. There are
// two short forms. The name of a row, or a sentence of a comment, can end with its rules: "a plain Job is complete
// (J-259)". A row can have a field that contains only rules: "J-222". If the rows of a table are not sentences about
// us, a line above the table gives the sentence: //conformance:fact the server refuses it unless %s.
//
// The command reads syntax only, so it finds the tests of every module and build tag. A citation belongs to the first
// test of its package that reaches it: the citation is in the test, in a function that it calls, or in a table that it
// reads. The pages cite tests only. A comment in code says which rule a line obeys, and that proves nothing.
//
// Read contract.go, rules.go and harvest.go next.
package main
