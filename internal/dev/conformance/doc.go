// Command conformance ties each rule of the contracts (docs/contract) to the tests that fail when it is broken, and
// writes docs/conformance.md, with a page below docs/conformance for each section. It also finds citations, anywhere in
// the tree, of rules and of parts of docs/design.md that do not exist, and invariants of the design that no test cites.
// Its sources are the contracts, rules.txt (a title for each rule, and why no test is wanted of some), differences.md
// (what differs from the built-in controller on purpose) and the tests themselves, which say what they prove next to
// where they prove it:
//
//	// J-085: the status write that names the pod is confirmed before its finalizer goes.
//
// in a test's doc comment, in its body, beside a row of its table or, with # for //, in a script under testdata. It
// goes on to the end of its paragraph. "J-061, J-062" and "J-061 to J-068" name several rules. Two short forms serve
// where the sentence is there anyway: a row's name or a sentence of a comment that ends with its rules, "a plain Job is
// complete (J-259)", and a row with a field that is nothing but rules, "J-222". A table whose rows are not sentences
// about us says how to read them, in a line above it: //conformance:fact the server refuses it unless %s.
//
// It reads syntax only, so tests of every module and build tag are found, and a citation belongs to the first test of
// its package that gets to it: by being it, calling it, or reading the table in which it stands. Rules are never cited
// by anything but tests in the pages: a comment in code says which rule a line obeys, which proves nothing.
//
// Read contract.go, rules.go and harvest.go next.
package main
