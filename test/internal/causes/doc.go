// Package causes has the lines that a kubelet writes about a pod: those that the generator of test/incidents plays, and
// those that a real kubelet wrote.
//
// [Table] has a row for each cause: what happens, what an answer must say about it, and the statuses that the generator
// writes in the kubelet's place. [Series] is the history of a pod as far as an answer can depend on it, one line for
// each state:
//
//	Running ready | main running
//	Failed | main exit 137 OOMKilled
//
// testdata/words.txt holds the series of a real kubelet; test/node/situations writes it. The test of this package
// compares it with the lines that are played.
//
// Read next: table.go for the causes, series.go for what is compared.
package causes
