package incidents

import "time"

// 10: a pod is deleted while no controller watches.
func controllerKilled(s *scene) {
	t := s.create(maria, newJob("longhaul-west", "haul:3", size(2, 2), runsFor("10s"), stopsAfter("1s")))
	t.want = "Complete CompletionsReached, 1 deleted"
	t.Cause = "tom deleted one of two pods while Jobledger was killed; the pod was made again"
	t.Says = []string{"deleted", "gap"}
	pods := s.awaitRunning(t, 2)
	t.FirstPod = pods[0].Name
	s.pass(2 * time.Second)
	t.Gap = &gap{From: now()}
	s.must(s.ours.Kill())
	s.deletePod(tom, pods[0].Name, -1)
	s.pass(4 * time.Second)
	s.must(s.ours.Start(s.ctx))
	t.Gap.To = now()
	s.awaitEnd(t)
}
