package incidents

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// 4: a user deletes running pods, one in the usual way, one by force.
func deletedPods(s *scene) {
	t := s.create(maria, newJob("longhaul", "haul:3", size(3, 3), runsFor("12s"), stopsAfter("1s")))
	t.want = "Complete CompletionsReached, 2 deleted"
	t.Cause = "tom deleted two pods that ran, the second by force; both were made again"
	t.Says = []string{"deleted"}
	pods := s.awaitRunning(t, 3)
	t.FirstPod = pods[0].Name
	s.pass(3 * time.Second)
	s.deletePod(tom, pods[0].Name, -1)
	s.pass(2 * time.Second)
	s.deletePod(tom, pods[1].Name, 0)
	s.awaitEnd(t)
}

// 7: one person suspends it, another resumes it.
func suspendedAndResumed(s *scene) {
	t := s.create(maria, newJob("ingest", "ingest:8", size(2, 2), runsFor("6s")))
	t.want = "Complete CompletionsReached, 2 deleted"
	t.Cause = "suspended by tom while both pods ran, resumed by maria: its work was begun twice"
	t.Says = []string{"suspend"}
	s.awaitRunning(t, 2)
	s.pass(3 * time.Second)
	s.patch(tom, "kubectl-patch", t, "spec.suspend false -> true", `{"spec":{"suspend":true}}`)
	s.await(t, "it is suspended", func(v view) bool { return v.job.Status.Active == 0 })
	s.pass(8 * time.Second)
	s.patch(maria, "kubectl-patch", t, "spec.suspend true -> false", `{"spec":{"suspend":false}}`)
	s.awaitEnd(t)
}

// 8: one name, three Jobs.
func threeLives(s *scene) {
	first := s.create(maria, newJob("nightly-sync", "sync:5"))
	first.want = "Complete CompletionsReached, 0 deleted"
	first.Cause = "nothing: the first of its name is complete"
	first.Says = []string{"COMPLETE"}
	s.awaitEnd(first)
	s.deleteJob(maria, first.Job, metav1.DeletePropagationBackground)
	s.awaitGone(first)

	second := s.create(maria, newJob("nightly-sync", "sync:5", runsOn()))
	second.want = "Deleted, 1 deleted"
	second.Cause = "the second of its name was deleted by tom while its pod ran"
	second.Says = []string{"deleted"}
	s.awaitRunning(second, 1)
	s.pass(4 * time.Second)
	s.deleteJob(tom, second.Job, metav1.DeletePropagationBackground)
	s.awaitGone(second)

	third := s.create(maria, newJob("nightly-sync", "sync:6", fails("1"), limit(0)))
	third.want = "Failed BackoffLimitExceeded, 0 deleted"
	third.Cause = "container main of the third of its name exits 1; backoffLimit is 0"
	third.Says = []string{"exit 1", "backoffLimit"}
	s.awaitEnd(third)
}
