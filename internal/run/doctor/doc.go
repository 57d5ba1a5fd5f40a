// Package doctor checks a cluster, a disk and a NATS server before a controller runs there. It reports what would keep
// the controller from working, and what to do about it. It changes nothing, except for a small file that it writes and
// removes to measure the disk.
//
// A check is a function in the list of checks. It returns findings: one line if all is well, else one per problem. A
// place that it may not read is a finding too, so "no problem" never means "not checked".
package doctor
