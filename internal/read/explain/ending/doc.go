// Package ending finds what ended each try of a Job (each pod): its program, its node, a disruption, a controller, or
// an API client.
//
// [Read] reads the records of a Job, and decides what each try counts as. [Of] returns the cause of one try's end, and
// the records that prove it. It names a cause only if the records exclude all others. Otherwise the cause is unknown,
// and Of says which record is missing.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use: Of caches its result in the try.
//
// Read ended.go first, then whodeleted.go.
package ending
