// Package streamindex has the index on disk of a sealed file: which records belong to a stream, and which streams have
// an object with a certain name.
//
// An index is derived from its file and may be deleted. It identifies its file, and each of its blocks has a checksum,
// so an index that is damaged or of another file is never used.
//
// Read index.go for the layout, then filter.go.
package streamindex
