// Package observe compares our decisions with what another controller then does (--manage=observe).
//
// A [Watcher] sees every decision about every observed Job. The decisions are not carried out: another controller runs
// the Jobs. It reports two kinds of differences:
//
//   - Every decision for the duration of the patience (2 minutes) asked for something, and no controller did it.
//     Examples: a missing or surplus pod, a finalizer that stays, a condition or count that is not written.
//   - A Job ended with a verdict that no decision asked for, and that no observation within the patience explains.
//
// Invariants:
//
//   - Order and delays of the other controller are no difference, as long as it acts within the patience. Nor is it one
//     that it sees pods earlier or later than we do.
//   - A difference is reported once, and again only after it was gone.
//   - The state at the first look at a Job is not judged: it is older.
//   - Memory is used only for Jobs with open wants or an unexplained verdict.
//
// docs/design/0003-observe.md lists what it does not find.
//
// # Concurrency
//
// A Watcher is not safe for concurrent use; the loop owns it. It has no clock.
package observe
