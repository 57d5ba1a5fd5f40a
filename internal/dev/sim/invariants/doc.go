// Package invariants watches a simulated API server and reports when a Job controller breaks a promise that holds in
// every crash and every race (design §2 and §6; rules J-… are of the Job contract).
//
// It knows every write and its author. From the writes it keeps its own account of every Pod that ended with the
// tracking finalizer, and compares it with what the controller publishes:
//
//   - A Pod is counted at most once, and none is forgotten: a status write moves the counters by exactly the Pods that
//     leave the uncounted lists; the write that finishes a Job also by the Pods that are still to be counted then
//     (J-085 to J-091).
//   - The finalizer of a Pod that is to be counted goes only after a stored status accounts for it (design §2,
//     invariant 7).
//   - No index has two live Pods, none that has ended gets another, no Job has more Pods than it wants (J-047, J-048,
//     J-052).
//   - A finished Job is not changed, and gets no Pods and no deletions (J-008, J-082); a Job is not finished while it
//     has Pods that have not ended.
//   - A Job ends for a reason that its pods, its spec and the clock confirm. It does not go on after its published
//     status says that it has failed (J-159). Indexes fail because of their pods, and stay failed (J-116, J-117).
//   - A Job is deleted only after its TTL, in the deleted version, has passed by the controller's clock, and none is
//     forgotten (T-070 to T-073).
//   - Jobs of other controllers are left alone (J-005, J-007).
//   - Of CronJobs only the status is written, and its times go forward (C-243, C-244). Jobs are created only for past
//     due times, one for each minute, of CronJobs that may start some, under their policy (C-240 to C-242, C-245).
//     They are deleted as they should be (C-247).
//   - No status write is refused as invalid (J-206 to J-233); deletions and patches name the UID (J-083, J-254).
//
// If a race makes two outcomes right, both pass: if a user removed the finalizer of a Pod, the Pod may be counted or
// not. Only the maker of a decision knows which versions it was based on; see [Config].Intent.
//
// # Concurrency
//
// One goroutine owns a Checker and its server.
package invariants
