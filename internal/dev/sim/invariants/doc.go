// Package invariants watches a simulated API server and says when a Job controller broke one of the promises that hold
// in every crash and every race (design §2 and §6; rules J-… are of the Job contract).
//
// It knows the truth: every write there ever was, and who made it. From that it keeps its own account of every Pod that
// ended while it carried the tracking finalizer, and compares with what the controller publishes:
//
//   - A Pod is counted at most once, and none is forgotten: a status write moves the counters by exactly the Pods that leave
//     the uncounted lists; the write that finishes a Job also by the Pods that are still to be counted then (J-085 to J-091).
//   - The finalizer of a Pod that is to be counted goes only after a stored status accounts for it (design §2, invariant 7).
//   - No index has two live Pods, none that has ended gets another, no Job has more Pods than it wants (J-047, J-048, J-052).
//   - A finished Job is not changed, and gets no Pods and no deletions (J-008, J-082); a Job is not finished while it has
//     Pods that have not ended.
//   - A Job ends for a reason that is borne out by what happened to its pods, by its spec and by the clock; and it does not go on
//     when what it publishes says that it has failed (J-159). Indexes fail by their pods, and stay failed (J-116, J-117).
//   - A Job is deleted only when its TTL has passed by the controller's clock, as the version that is deleted has it, and none is
//     forgotten (T-070 to T-073).
//   - Jobs of other controllers are left alone (J-005, J-007).
//   - Of CronJobs the status alone is written, and its times go forward (C-243, C-244). Jobs are made for due times that have come, one for
//     each minute, of CronJobs that may start some, under their policy (C-240 to C-242, C-245), and are deleted as they should be (C-247).
//   - No status write is refused as invalid (J-206 to J-233); deletions and patches name the UID (J-083, J-254).
//
// Where a race makes two outcomes right, both pass: a Pod whose finalizer a user took away may be counted or not.
// What a decision could know when it was made only its maker can say; see [Config].Intent.
//
// # Concurrency
//
// One goroutine owns a Checker and its server.
package invariants
