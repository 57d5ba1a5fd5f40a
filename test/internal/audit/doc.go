// Package audit compares a controller's writes in the API server's audit log with the commands of its event log, both
// ways.
//
//	writes, problems := audit.Join(logged, proxy.Calls()) // each call through the proxy, with its line in the audit log
//	report, err := audit.Check(writes, log.Read(ctx, 1))
//
// Each write has one command that asked for it: the same kind, object and precondition, and the outcome in the log
// agrees with the answer. Each command that was sent has its write, and each command has an outcome, unless its Job was
// over by then or its process was killed.
//
// A try is one write. A command that is not retried has one try at most. A command that is retried has one for each
// outcome in the log that was sent, and more between them: the log has the first refusal of a row of alike ones, and
// then only news (loop.repeated). Such a try has to agree with an outcome that the log has already. A command that was
// cut off, by a kill or the end of its Job, has one more write at most for each cut, of any answer.
//
// A write that is not the deed of a decision, such as a Kubernetes Event, is left out: beside.go lists them.
//
// All functions are pure. Read check.go first, then match.go.
package audit
