// Package audit compares a controller's writes in the API server's audit log with the commands of its event log, in
// both directions.
//
//	writes, problems := audit.Join(logged, proxy.Calls()) // each call through the proxy, with its line in the audit log
//	report, err := audit.Check(writes, log.Read(ctx, 1))
//
// Each write has one command that asked for it, with the same kind, object and precondition, and with an outcome that
// agrees with the answer. Each command that was sent has its write. Each command has an outcome, unless its Job was
// gone by then or its process was killed.
//
// A try is one write. A command that is not retried has at most one try. A command that is retried has one try for each
// sent outcome in the log, and may have more between them: of equal refusals in a row the log has only the first
// (loop.repeated). Such an extra try must agree with an outcome that the log already has. A command that was cut off,
// by a kill or by the end of its Job, may have one more write for each cut, with any answer.
//
// Writes that no decision asks for, such as Kubernetes Events, are left out: beside.go lists them.
//
// All functions are pure. Read check.go first, then match.go.
package audit
