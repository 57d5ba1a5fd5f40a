// Package causes has what a kubelet writes into the status of a pod: as the generator of test/incidents simulates it,
// and as a real kubelet wrote it.
//
// [Table] has a row for each cause: what happens, what an answer must say about it, and the statuses that the generator
// writes in place of a kubelet. [Series] is the history of a pod, reduced to what an answer can depend on. It has one
// line for each state:
//
//	Running ready | main running
//	Failed | main exit 137 OOMKilled
//
// testdata/words.txt has the series that a real kubelet wrote; test/node/situations makes this file. The test of this
// package compares it with the series that the generator simulates.
//
// Read next: table.go for the causes, series.go for what is compared.
package causes
