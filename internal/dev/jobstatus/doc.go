// Package jobstatus says what no status of a Job may be, and how none may follow another, by the statuses alone:
// whoever wrote them, and whatever pods there are. The referees of the simulation and of recorded histories share it
// (internal/dev/sim/invariants, test/internal/ledger); what they know besides, of writers and pods, they judge
// themselves.
package jobstatus
