// Package attempts lists the tries (pods) of a Job: as rows of a list, and as lanes of a timeline. Its types are
// written as JSON, and change only by adding fields.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package attempts
