// Package archtest checks the shape of the tree: which package may import which, what pure packages may not use, and
// what every package must have. It has only tests. A row of their tables is a sentence of the design.
//
// The tests ask `go list` for whole import graphs. So they also find a dependency through a third package, and the
// failure names the chain of imports. Linters check single calls, such as a clock or a sleep; see .golangci.yml.
package archtest
