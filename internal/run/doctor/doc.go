// Package doctor checks a cluster, a disk and a NATS server before a controller runs there. It reports what would keep
// the controller from working, and what to do about it. It changes nothing, except for a small file that it writes and
// removes to measure the disk, and a test object that it writes and removes where the log is copied to.
//
// A check is a function in the list of checks. It returns findings: a single one if all is well, else one for each
// problem. If it lacks the right to look at something, that is a finding too, so "no problem" never means "not
// checked".
package doctor
