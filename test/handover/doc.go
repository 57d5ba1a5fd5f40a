// Package handover lets jobledger (--manage=all) and the built-in Job controller take over a cluster from each other,
// again and again, each killed in the middle of what it does (O-008, design §6).
//
// Mixed Jobs, in every state that a Job can be in, are created while the controllers change: running, in backoff,
// suspended, finishing, failing by a policy, with a failed pod held back for its index, being deleted. How each ends
// follows from its spec and from what its pods do, whoever runs it: mix_test.go has both beside each other. Over all
// that was stored meanwhile the rules of package ledger hold: no index ever has two live pods, no pod is counted twice
// or forgotten, no finalizer stays.
//
// # Concurrency
//
// The built-in controller runs the Jobs of all namespaces. So one trial has two namespaces and hands both over at the
// same time: in one ours keeps its log, in the other it loses it each time.
//
// TestGivenBack has another play, of Jobs whose end does not depend on when things happen (script_test.go): so each can
// be compared with what the built-in controller alone makes of it. Ours is installed and leaves again.
//
// TestCronJobsHandedOver has CronJobs, which the built-in CronJob controller and ours take over from each other. It
// takes minutes of the clock, so it is played with JOBLEDGER_LONG alone.
//
// TestDeletedPodsThatExitWith0 plays one thing with each, one after the other: pods that are deleted and exit with 0 at
// once.
//
// Read next: mix_test.go, then handover_test.go; script_test.go, then given_back_test.go; cronjobs_test.go.
package handover
