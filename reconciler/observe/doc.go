// Package observe compares what would have been decided with what another controller then does (--manage=observe).
//
// A [Watcher] is shown every decision about every Job, as it would have been made on what was observed, and none of
// them is carried out: another controller runs the Jobs. What it finds are differences:
//
//   - Something was asked for by every decision for as long as the patience lasts, and no controller did it: a pod that is missing or
//     one too many, a finalizer that stays, a condition or a count that is not written.
//   - A Job ended with a verdict that no decision asked for, and that nothing which was seen by the end of the patience
//     explains.
//
// Invariants:
//
//   - What another controller does in its own order, and later than we would, is no difference, as long as it does it within
//     the patience; nor is that it sees pods before we do, or after.
//   - A difference is told once, until it is gone and comes back.
//   - What was found when a Job was first looked at is not judged: it happened before.
//   - It remembers something only of Jobs that want something done, or whose verdict is not explained yet.
//
// docs/design/0003-observe.md says what it does not find.
//
// # Concurrency
//
// A Watcher is not safe for concurrent use; the loop owns it. It has no clock.
package observe
