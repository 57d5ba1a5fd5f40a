package incidents

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outage is a time in which Jobledger is away, for many situations at once. They run when no others do.
type outage struct {
	frozen bool // its process is stopped by SIGSTOP; else it is killed

	ready, acted sync.WaitGroup
	down, up     chan struct{}
}

func newOutage(frozen bool, situations int) *outage {
	o := &outage{frozen: frozen, down: make(chan struct{}), up: make(chan struct{})}
	o.ready.Add(situations)
	o.acted.Add(situations)
	return o
}

// play stops Jobledger when all situations are ready, and restarts it when all have acted.
func (o *outage) play(s *scene) {
	o.ready.Wait()
	s.pass(3 * time.Second)
	away, back := s.ours.Kill, func() error { return s.ours.Start(s.ctx) }
	if o.frozen {
		away, back = s.ours.Pause, s.ours.Continue
	}
	if err := away(); err != nil {
		s.t.Error(err)
	}
	close(o.down)
	o.acted.Wait()
	s.pass(3 * time.Second)
	if err := back(); err != nil {
		s.t.Error(err)
	}
	close(o.up)
}

// during carries out an action while Jobledger is away.
func (s *situation) during(deed func()) {
	s.outage.ready.Done()
	<-s.outage.down
	func() {
		defer s.outage.acted.Done()
		deed()
	}()
	<-s.outage.up
	s.pass(2 * time.Second)
}

// outageCauses are actions while Jobledger is away.
var outageCauses = []jobCause{
	{name: "unseen", shape: "limit3", phase: "delete", did: "tom deleted the running pod", says: []string{`deleted`}, may: "gap client", stage: unseen(func(s *situation) {
		s.deletePod(tom, s.told.Pod, -1)
	})},
	{name: "unseen", shape: "limit3", phase: "evict", did: "tom evicted the running pod", says: []string{`evict|deleted`}, may: "gap eviction", stage: unseen(func(s *situation) {
		s.evict(s.hitPod())
	})},
	{name: "unseen", shape: "limit3", phase: "exit", did: "the program exited 4", says: []string{`exit(ed)? 4`}, may: "gap", stage: unseen(func(s *situation) { s.exit(s.hitPod(), 4) })},
	{name: "unseen", shape: "limit3", phase: "success", did: "the program succeeded", says: []string{`succeeded`}, may: "gap", stage: unseen(func(s *situation) { s.succeed(s.hitPod()) })},
	{name: "unseen", shape: "limit3", phase: "suspend", did: "tom suspended the Job", says: []string{`suspended`}, may: "gap suspended edit scale", stage: unseen(func(s *situation) {
		s.patch(tom, "kubectl-patch", s.truth, "spec.suspend false -> true", `{"spec":{"suspend":true}}`)
	})},
	{name: "unseen", shape: "limit3", phase: "jobdelete", did: "tom deleted the Job", says: []string{`deleted`}, may: "gap client", stage: unseen(func(s *situation) {
		s.deleteJob(tom, s.truth.Job, metav1.DeletePropagationBackground)
	})},
	{name: "unseen", shape: "limit3", phase: "nothing", did: "nothing happened", says: []string{`succeeded`}, may: "gap", stage: unseen(func(s *situation) {})},
}

// unseen returns the stage of a Job with a running pod, on which an action is carried out while Jobledger is away.
// Later pods of the Job are played.
func unseen(deed func(*situation)) func(*situation) {
	return func(s *situation) {
		p := s.start(1)[0]
		s.hit(p)
		s.stopped()
		s.during(func() { deed(s) })
		switch s.row.phase {
		case "jobdelete":
			s.awaitGone(s.truth)
		case "suspend":
			s.await(s.truth, "it is suspended", func(v view) bool { return v.job.Status.Active == 0 && len(v.live()) == 0 })
		case "nothing":
			s.succeed(p)
			s.awaitEnd(s.truth)
		default:
			s.succeedRest()
		}
	}
}
