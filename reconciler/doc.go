// Package reconciler has the values of a decision: [Decision], the reasons of its steps, and [Draft], a decision under
// construction. The rules stand below it:
//
//	rules  decides about any subject: rules.Decide(subject)
//	job    the rules of a Job, of a retired Job, and of pods without an owner
//	cron   the rules of a CronJob
//
// A decision is a pure function of the projected subject, which carries its own clock and settings. The rules use no
// other clock, no random source, no client and no map order. So the same prefix of the log gives the same decision,
// byte for byte. They run stages in order, and each stage runs an ordered list of rules. The lists in job/rules.go and
// cron/rules.go are the specification.
//
// Invariants:
//
//   - A decision does not change the projected state.
//   - A decision that has just been folded yields no further command.
//   - A stage that must wait sets a time ([Decision].Wake); it never sleeps.
//   - The cost of a decision depends on what it asks for, not on the number of the Job's pods.
//
// Read job/rules.go first.
package reconciler
