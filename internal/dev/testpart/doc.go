// Testpart runs one part of the tests of some packages, so that a suite of several hours fits into shorter runs:
//
//	testpart -part 2/6 -each '^TestGenerated' -- go test -timeout 90m ./...
//
// It lists the tests and assigns every Nth test to a part. It runs the command with -run, once for each package that
// has tests in the part. Tests that match -each are in every part and divide themselves by JOBLEDGER_PART. If a package
// fails, the other packages still run.
//
// Read choose first.
package main
