// Package reconciler decides what to do for a Job or CronJob, and gives the reason.
//
// Given a projected Job that wants 3 pods and has 1, [Decide] returns one step:
//
//	stage "pods", rule "create", reason MorePodsWanted, commands: CreatePod, CreatePod
//
// Decide is a pure function of the projected subject, which carries its own clock and settings. It uses no other clock,
// no random source, no client and no map order. So the same prefix of the log gives the same decision, byte for byte.
// It runs stages in order, and each stage runs an ordered list of rules. The lists in rules.go are the specification.
//
// Invariants:
//
//   - Decide does not change the projected state.
//   - A decision that has just been folded yields no further command.
//   - A stage that must wait sets a time ([Decision].Wake); it never sleeps.
//   - The cost of a decision depends on what it asks for, not on the number of the Job's pods.
//
// Read rules.go first.
package reconciler
