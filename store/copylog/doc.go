// Package copylog is the layout of a copy of a log: a [Manifest], the names of the objects beside it, and the [Place]
// that has them.
//
//	MANIFEST                          names all other objects; the only one that is ever overwritten
//	files/00000000000000000001-1.db   a sealed file, by its first record and the epoch of its last; .idx and .jobs beside it
//	tail/00000000000000041287-1.seg   records of the file that is written, whole batches, as one block of a packed file
//	tail/00000000000000041287-00000000000000041950-1.seg   the same, of several segments, or where its first name is taken
//	manifests/00000000000000041999-1  the manifest of a day, under its head
//	KEY                               the key of the log, if that was asked for
//
// The same bytes stand in a directory (package indir) and in a bucket (package ins3), so whatever copies one to the
// other makes a copy of the log. Invariants:
//
//   - What a manifest names was put before it. So a copy has what its manifest says, whenever the process that makes it ends.
//   - No object is overwritten but MANIFEST, and that only by who has read the one that it replaces.
//   - What no manifest names is not of the copy. An object is deleted an hour after a manifest ceased to name it.
//   - Names are made of what the manifest says of an object; a manifest with other names is damaged. Nothing lists objects.
//
// # Concurrency
//
// A Place is safe for concurrent use. A Manifest is a value; who changes one clones it first.
//
// Read manifest.go first, then place.go.
package copylog
