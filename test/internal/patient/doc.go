// Package patient waits in a staged situation, until its context ends: for something to become so, or for a while to
// pass.
//
//	patient.Eventually(ctx, t, "the Job is gone", func() bool { … })
//	patient.Pass(ctx, t, 3*time.Second)
//
// Beside package judge, it is what test/incidents and test/node/situations share. Both functions fail the test where
// the context ends first, and belong into its goroutine.
package patient
