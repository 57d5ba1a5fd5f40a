// Package fields encodes and decodes small values of a log's files: numbers, texts and heads one after the other,
// behind a version, sealed with a CRC-32C.
//
// A [Decoder] never reads beyond its value, and reports once, at the end, that a field was malformed.
package fields
