// Package patient waits in a staged situation, until its context ends: for a condition, or for a time to pass.
//
//	patient.Eventually(ctx, t, "the Job is gone", func() bool { … })
//	patient.Pass(ctx, t, 3*time.Second)
//
// It is shared by test/incidents and test/node/situations. Both functions fail the test if the context ends first, and
// must be called in the test's goroutine.
package patient
