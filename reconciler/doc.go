// Package reconciler decides what should be done for a Job, and says why.
//
// [Decide] is a function of the projected Job, which carries its own clock and the settings in force, and of nothing
// else: no clock, random source, client or map order. So the same prefix of the log gives the same decision, byte for
// byte. It runs stages in order, each a short ordered list of rules: the lists are the specification, and rules.go is
// them. Invariants:
//
//   - Decide does not change the Job.
//   - Deciding again right after one's own decision has been folded yields no command.
//   - A stage that must wait yields a time ([Decision].Wake), never a sleep.
//   - What a decision costs depends on what it asks for, not on how many pods the Job has.
//
// Read rules.go first.
package reconciler
