// Package words describes records of the log in words, one sentence for each.
//
//	names := &words.Names{}
//	for r := range records {
//		names.Learn(&r) // remembers the names of Jobs, pods and commands
//		fmt.Println(names.Detail(&r))
//		names.Forget(&r)
//	}
//
// Invariants:
//
//   - Foreign texts (names, messages, exit texts) reach a terminal only through [Clean], which never writes a control
//     character, an escape sequence or a direction mark.
//   - The same records give the same words: the package reads no clock, and sorts the keys of each map.
//
// The package does no I/O of its own: Names reads records through its function fields. Read detail.go first, then
// names.go.
package words
