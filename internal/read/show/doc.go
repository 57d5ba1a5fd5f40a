// Package show prints answers for people: as text for a terminal, and as Markdown.
//
// [Page] writes the state of a Job, and tables of Jobs. [Table] lays out columns. [Indented] writes JSON for reading.
// Texts of users and the API server are printed only through words.Clean, which makes them safe for a terminal. The
// same values give the same bytes. The package writes only to Page.Out and Table.Out.
//
// Read page.go first, then table.go.
package show
