// Package chunk has the stored form of records: chunks of a few records as they are written, and blocks of many,
// compressed, in packed files.
//
// Invariants: a chunk never spans two commit groups, and the last one of a group ends with the chain value after it.
// Each record, or its block, has a CRC-32C. No size that a chunk claims is believed before it is checked.
//
// Read chunk.go first, then block.go.
package chunk
