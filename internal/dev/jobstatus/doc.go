// Package jobstatus has the rules that every status of a Job, and every change of it, must keep. It judges the statuses
// alone, whoever wrote them and whatever pods exist. The referees of the simulation and of recorded histories share it
// (internal/dev/sim/invariants, test/internal/ledger); they add their own rules about writers and pods.
package jobstatus
