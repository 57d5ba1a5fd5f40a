// Package ending finds what ended each try of a Job: its program, its node, a disruption, a controller, or an API
// client.
//
// [Read] reads a Job and sets as what its tries count. [Of] gives the cause of one try's end, and the records that
// show it. A cause is claimed only if the records exclude the others; otherwise it is unknown, with what is
// missing.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use: Of caches its result in the try.
//
// Read ended.go first, then whodeleted.go.
package ending
