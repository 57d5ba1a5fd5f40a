// Package intake turns observations into records. It routes them to streams, drops what the log already has, and finds
// objects that were deleted while no controller watched:
//
//	in := intake.Intake{World: world, FileStart: first}
//	for _, d := range in.Admit(observation, next) {
//		appendAndFold(d)
//	}
//
// It reads the World and never changes it: a record does, once the caller has folded it.
//
// # Concurrency
//
// Intake is not safe for concurrent use; the loop owns it.
//
// Read intake.go first, then orphans.go and runs.go.
package intake
