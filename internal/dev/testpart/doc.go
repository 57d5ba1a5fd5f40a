// Testpart runs one of several parts of the tests of some packages, so that hours of them fit into slices:
//
//	testpart -part 2/6 -each '^TestGenerated' -- go test -timeout 90m ./...
//
// It lists the tests, gives each part every Nth of them, and runs the command once for each package that has any, with
// -run. Tests that -each matches divide themselves by JOBLEDGER_PART: they are in every part. A package that fails does
// not keep the others from running.
//
// Read choose first.
package main
