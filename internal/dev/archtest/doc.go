// Package archtest keeps the shape of the tree: which package may import which, what the pure packages may not touch,
// and what every package must have. It holds only tests; a row of their tables is a sentence of the design.
//
// The tests ask `go list` for whole import graphs, so a dependency that comes in through a third package is found too,
// and the failure names the chain of imports. What a single file may call (a clock, a sleep) is for the linters, see
// .golangci.yml.
package archtest
