// Package streamindex has the stored index of a sealed file: which records are those of a stream, and which streams
// had a name.
//
// An index is derived from its file and may be deleted. It says of which file it is, and each of its blocks has a
// checksum, so a damaged or foreign one is never believed.
//
// Read index.go for the layout, then filter.go.
package streamindex
