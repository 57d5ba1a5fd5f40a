// Package intake turns observations of Kubernetes objects into records. It chooses the stream of each record (the part
// of the log that belongs to one Job, CronJob or namespace), drops what the log already has, and finds objects that
// were deleted while no controller watched:
//
//	in := intake.Intake{World: world, FileStart: first}
//	for _, d := range in.Admit(observation, next) {
//		appendAndFold(d)
//	}
//
// It reads the World (the state computed from the log) and never changes it. Only the caller does, by applying the
// record.
//
// # Concurrency
//
// Intake is not safe for concurrent use; the loop owns it.
//
// Read intake.go first, then orphans.go and runs.go.
package intake
