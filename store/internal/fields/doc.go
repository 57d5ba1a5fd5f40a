// Package fields encodes and decodes small values in a log's files: a version, then numbers, texts and heads one after
// the other, then a CRC-32C.
//
// A [Decoder] never reads beyond the end of its value. Its method End reports whether a field was malformed.
package fields
