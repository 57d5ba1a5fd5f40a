// Package causes is what a kubelet says of a pod: the words that the generator of test/incidents plays, and those that
// a kubelet wrote.
//
// [Table] has a row for each cause: what happens, what an answer has to say of it, and the statuses that the generator
// writes in the kubelet's place. [Series] is a history of a pod as far as an answer can depend on it, one line for each
// state:
//
//	Running ready | main running
//	Failed | main exit 137 OOMKilled
//
// testdata/words.txt holds the series of a real kubelet (test/node/situations writes it). The test of this package
// compares it with the words that are played.
//
// Read next: table.go for the causes, series.go for what is compared.
package causes
