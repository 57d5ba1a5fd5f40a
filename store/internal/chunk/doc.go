// Package chunk has the stored form of records: chunks of a few records, as they are written, and compressed blocks of
// many records, in packed files.
//
// Invariants: a chunk never spans two commit groups (the records of one commit), and the last chunk of a group ends
// with the chain value after it. Each record, or each block, has a CRC-32C. Every size that a chunk claims is checked
// before it is used.
//
// Read chunk.go first, then block.go.
package chunk
