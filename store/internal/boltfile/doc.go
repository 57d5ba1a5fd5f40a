// Package boltfile reads bbolt's files without trusting their content, and writes complete ones in one pass.
//
// bbolt trusts the content of its pages. A damaged page can make it panic, even in its own goroutines, read beyond the
// end of a short file, or recurse without end. So [Pages] reads everything that may be damaged with read(2), and checks
// each value before it uses it. [Writer] writes a file that bbolt can read: full pages, no free pages.
//
// Read pages.go for the format, then tree.go.
package boltfile
