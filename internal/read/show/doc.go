// Package show lays out the answers of package history for people.
//
// [Page] writes the state of a Job, and tables of Jobs. [Table] lays out columns. [Indented] writes JSON for reading.
// Foreign texts reach a terminal only through words.Clean. The same values give the same bytes. The package does no I/O
// of its own.
//
// Read page.go first, then table.go.
package show
