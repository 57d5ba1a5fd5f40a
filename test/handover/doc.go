// Package handover lets jobledger (--manage=all) and the built-in Job controller take over a cluster from each other,
// again and again. Each is killed in the middle of its work (O-008, design §6).
//
// Mixed Jobs, in every possible state, are created while the controllers change: running, in backoff, suspended,
// finishing, failing by a policy, with a failed pod held for its index, being deleted. Only its spec and its pods
// determine how a Job ends, whichever controller runs it: mix_test.go has both. The rules of package ledger hold for
// everything that is stored meanwhile: no index ever has two live pods, no pod is counted twice or never, no finalizer
// stays.
//
// # Concurrency
//
// The built-in controller runs the Jobs of all namespaces. So one trial has two namespaces, which are handed over at
// the same time: in one Jobledger keeps its log, in the other it loses it each time.
//
// TestGivenBack uses Jobs whose end does not depend on timing (script_test.go), so each can be compared with its end
// under the built-in controller alone. Jobledger is installed and uninstalled again.
//
// TestCronJobsHandedOver has CronJobs, which the built-in CronJob controller and Jobledger take over from each other.
// It takes minutes of the clock, so it needs JOBLEDGER_LONG.
//
// TestDeletedPodsThatExitWith0 runs one case with each controller in turn: deleted pods that exit with 0 at once.
//
// Read next: mix_test.go, then handover_test.go; script_test.go, then given_back_test.go; cronjobs_test.go.
package handover
