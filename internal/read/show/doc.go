// Package show lays out for people what package history tells of Jobs.
//
// [Page] writes the state of a Job, and tables of Jobs; [Table] lays out columns; [Indented] writes JSON for reading.
// What others wrote reaches a terminal only through words.Clean. The same values give the same bytes. The package does
// no I/O of its own.
//
// Read page.go first, then table.go.
package show
