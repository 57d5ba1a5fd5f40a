// Package copylog defines the layout of a copy of a log: a [Manifest], which describes the copy, the names of the
// objects beside it, and the [Place] (a directory or a bucket) that stores them.
//
//	MANIFEST                          names all other objects; the only object that is ever overwritten
//	files/00000000000000000001-1.db   a sealed file: its first record, epoch of its last; .idx and .jobs beside it
//	tail/00000000000000041287-1.seg   a segment: whole batches of the file being written, as one compressed block
//	tail/00000000000000041287-00000000000000041950-1.seg   merged segments, or a segment whose usual name is taken
//	manifests/00000000000000041999-1  the manifest of a day, named after its head
//	KEY                               the key of the log, if the copy includes it
//
// The layout is the same in a directory (package indir) and in a bucket (package ins3), so any tool that copies objects
// between them copies the log.
//
// Invariants:
//
//   - An object is stored before a manifest names it. So the copy that a manifest describes is complete, even if the
//     writing process is killed.
//   - Only MANIFEST is ever overwritten, and only by a process that has read the version that it replaces.
//   - An object that no manifest names is not part of the copy. It is deleted one hour after the last manifest that
//     names it was replaced.
//   - The name of an object follows from its entry in the manifest; if a manifest has another name, it is damaged. So
//     no program has to list objects.
//
// # Concurrency
//
// A Place is safe for concurrent use. A Manifest is a value; call Clone before you change it.
//
// Read manifest.go first, then place.go.
package copylog
