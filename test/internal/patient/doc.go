// Package patient lets a test wait in a staged situation, for a condition or for a time to pass. A wait ends with its
// context.
//
//	patient.Eventually(ctx, t, "the Job is gone", func() bool { … })
//	patient.Pass(ctx, t, 3*time.Second)
//
// test/incidents and test/node/situations share it. Both functions fail the test if the context ends first. They must
// be called in the test's goroutine.
package patient
