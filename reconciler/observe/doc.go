// Package observe compares our decisions with the acts of another controller that runs the Jobs (--manage=observe).
//
// A [Watcher] sees every decision about every observed Job. The decisions are not carried out. It reports two kinds of
// differences:
//
//   - For the length of the patience (2 minutes) every decision asked for the same thing, and the other controller did
//     not do it. Examples: a missing or surplus pod, a finalizer that stays, a condition or count that is not written.
//   - A Job ended with a verdict (success or failure, and reason) that no decision asked for, and that no observation
//     within the patience explains.
//
// Invariants:
//
//   - The other controller may act in another order, with delays up to the patience, and see pods earlier or later than
//     we do. These are not reported.
//   - A difference is reported once, and again only if it disappeared in between.
//   - The state at the first look at a Job is not judged, because it arose before.
//   - Memory is used only for Jobs with commands that are not carried out yet, or with an unexplained verdict.
//
// docs/design/0003-observe.md lists what it does not find.
//
// # Concurrency
//
// A Watcher is not safe for concurrent use; the loop owns it. It has no clock.
package observe
