// Package boltfile reads bbolt's files without trusting them, and writes whole ones in one pass.
//
// bbolt trusts its pages. A damaged page can make it panic, even in its own goroutines, fault beyond the end of a
// short file, or recurse without end. So [Pages] reads everything that is not known to be intact with read(2), and
// checks each value before it follows it. [Writer] writes a file that bbolt reads: full pages, no free pages.
//
// Read pages.go for the format, then tree.go.
package boltfile
