// Package boltlog is the log on disk: a [store.Log] on bbolt files.
//
// A log is a directory:
//
//	LOCK                        held by the process that writes; its pid and command line; never renamed or deleted
//	00000000000000000001.db     the oldest file kept, named after its first record
//	00000000000000000001.idx    where its streams are; derived, safe to delete
//	00000000000000041287.db     the tail: the only file that is written
//	00000000000000041000.snap   a snapshot as of that record; safe to delete
//	CLOSED                      the head at the last Close; gone while the log is open, so that a loss after it is noticed
//	HEAD                        the head as it was at most some seconds ago, for the same
//
// Invariants:
//
//   - One commit is one bbolt transaction with two fdatasyncs and holds whole batches; what is not synced by then is not
//     acknowledged and not read. Files turn over only between batches.
//   - Every commit first finds the head, with the term, that this process wrote last; otherwise it fails (the fence).
//   - After a failed commit nothing is written any more. What came of it shows when the log is opened again.
//   - Space is allocated before it is needed, so a full disk is ErrNoRoom from Room and not a failed commit.
//   - A sealed file is written once more, packed, and replaced as a whole: at any time one whole file has that name.
//   - Each record has a CRC-32C, or its block has, each commit group ends with the chain value, and each file says with which value it
//     begins. bbolt's pages carry no checksums, so pages.go checks their structure before anything trusts them.
//
// What we assume: fdatasync means what it says, flock is honoured (no network file system), and a file system where
// overwriting allocated blocks needs no further space (not: copy-on-write ones). We do not promise to notice that the
// last commit before a crash is lost when the disk damaged exactly its meta page: it looks like a commit that did not
// end.
//
// # Concurrency
//
// As package store says. One goroutine commits, from Open to Close; one more per sealed file writes its index. Who
// reads on and on has one at a time that fetches and checks what comes next (ahead.go); it ends by itself, soon.
//
// Read log.go, then committer.go, chunk.go for the layout, pages.go for damage, pack.go for sealed files.
package boltlog
