// Package boltlog implements [store.Log] with bbolt files in a directory:
//
//	LOCK                        locked by the writing process; has its pid and command line; never renamed or deleted
//	00000000000000000001.db     the oldest file that is kept, named after its first record
//	00000000000000000001.idx    the index of its streams; derived, safe to delete
//	00000000000000041287.db     the newest file ("tail"), the only one that is written
//	00000000000000041000.snap   a snapshot of the state after record 41000; safe to delete
//	CLOSED                      the head at the last Close; absent while the log is open; reveals a loss of records
//	HEAD                        the head at most a few seconds ago, for the same purpose
//
// [Open] opens a log for its one writer, [OpenReadOnly] for tools while no process writes it, [Verify] checks all of
// it.
//
// Invariants:
//
//   - A commit is one bbolt transaction with two fdatasyncs, and holds whole batches. A record is neither acknowledged
//     nor readable before the second fdatasync. A new file begins only between batches.
//   - Each commit first checks that the head and term in the file are those that this process wrote last, and fails
//     otherwise (the fence).
//   - After a failed commit nothing is written any more. Only the next open shows whether that commit is stored.
//   - Space is allocated before it is needed. So on a full disk Room returns ErrNoRoom, and no commit fails.
//   - A sealed file is compressed once (packed): a new file replaces it by a rename, so its name always denotes one
//     whole file.
//   - Each record (in a packed file each block of records) has a CRC-32C. Each commit group ends with the chain value,
//     and each file stores the chain value before its first record. bbolt's pages have no checksums, so package
//     boltfile checks their structure before any code trusts them.
//
// Assumptions: fdatasync is durable; flock works (no network file system); overwriting allocated blocks needs no
// further space (no copy-on-write file system). One loss may go unnoticed: if the process crashes after a commit, and
// the disk damages exactly the meta page of that commit, the log looks as if the commit had not completed.
//
// # Concurrency
//
// The rules of package store apply. One goroutine commits, from Open to Close. One goroutine per sealed file writes its
// index. For a reader of many records, one goroutine at a time reads and checks ahead (ahead.go); it ends after one
// read.
//
// Read log.go first, then committer.go, package chunk for the layout, package boltfile for damage, pack.go for sealed
// files.
package boltlog
