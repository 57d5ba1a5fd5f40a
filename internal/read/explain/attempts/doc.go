// Package attempts lists the tries of a Job: as rows, and as lanes of a timeline. Its types are part of the JSON,
// and change only by growing.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package attempts
