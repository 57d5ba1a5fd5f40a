// Package doctor looks at a cluster, a disk and a NATS server with the eyes of a controller that is to run there, and
// says what would keep it from working, and what to do about that. It changes nothing, but for a small file that it
// writes and removes to measure the disk.
//
// A check is a function in the list of checks. It returns findings: what is well, one line a check, and each thing that
// is not. What it may not look at is a finding too, so that "no problem" never means that nobody looked.
package doctor
