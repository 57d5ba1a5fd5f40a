// Package reconciler has the types for decisions: [Decision], the reasons of its steps, and [Draft], a decision under
// construction. The rules that decide are in packages below it:
//
//	rules  decides about any subject: rules.Decide(subject)
//	job    the rules of a Job, of a retired Job, and of pods without an owner
//	cron   the rules of a CronJob
//
// A decision is a pure function of its subject: the state that package projector computes from the log, which includes
// the time and the settings. The rules use no clock, no random source, no client and no map order. So the same prefix
// of the log gives the same decision, byte for byte. The rules are grouped into stages; stages and rules run in a fixed
// order. The lists in job/rules.go and cron/rules.go are the specification.
//
// Invariants:
//
//   - A decision does not change the projected state.
//   - Once a decision is recorded and applied to the state, deciding again gives no further command.
//   - A stage that must wait sets a time ([Decision].Wake); it never sleeps.
//   - The cost of a decision depends on what it asks for, not on the number of the Job's pods.
//
// Read job/rules.go first.
package reconciler
