// Package jobstatus has the rules that every status of a Job, and every change of it, must obey. It judges only the
// status, no matter who wrote it or which pods exist. The checkers of the simulation (internal/dev/sim/invariants) and
// of recorded histories (test/internal/ledger) share it; they add rules of their own about writers and pods.
package jobstatus
