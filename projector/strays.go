package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Strays are the pods of one namespace that nobody owns and that concern us: they carry our finalizer, or a Job that is
// not known yet may adopt them (orphans.go says when one is here).
type Strays struct {
	// held folds the pods, and the commands about them, as those of a Job are folded. It has no object, so none of the
	// pods is its own.
	held *Job
	// awaiting are by UID the Jobs that may adopt pods and are not known yet, each with those pods.
	awaiting map[types.UID]map[types.UID]struct{}
}

func newStrays(held *Job) *Strays {
	s := &Strays{held: held, awaiting: map[types.UID]map[types.UID]struct{}{}}
	for uid := range held.byUID {
		s.await(uid)
	}
	return s
}

// Holder is what holds the pods: a Job without an object.
func (s *Strays) Holder() *Job { return s.held }

// Apply folds a record.
func (s *Strays) Apply(rec *events.Record) {
	pod, _ := events.PodIn(rec.Facts)
	s.unawait(pod)
	s.held.Apply(rec)
	s.await(pod)
}

func (s *Strays) await(uid types.UID) {
	p := s.held.byUID[uid]
	if p == nil {
		return
	}
	for _, job := range p.Candidates {
		if s.awaiting[job] == nil {
			s.awaiting[job] = map[types.UID]struct{}{}
		}
		s.awaiting[job][uid] = struct{}{}
	}
}

func (s *Strays) unawait(uid types.UID) {
	p := s.held.byUID[uid]
	if p == nil {
		return
	}
	for _, job := range p.Candidates {
		delete(s.awaiting[job], uid)
		if len(s.awaiting[job]) == 0 {
			delete(s.awaiting, job)
		}
	}
}

// waitFor are the pods that wait for that Job.
func (s *Strays) waitFor(job types.UID) map[types.UID]*Pod {
	waiting := map[types.UID]*Pod{}
	for uid := range s.awaiting[job] {
		waiting[uid] = s.held.byUID[uid]
	}
	return waiting
}

// ID is the namespace's stream.
func (s *Strays) ID() events.Stream { return s.held.Stream }

// Reference has the namespace.
func (s *Strays) Reference() events.JobRef { return s.held.Ref }

// Time is the time of the newest record that concerned them.
func (s *Strays) Time() events.Time { return s.held.Now }

// Last is the newest record of the namespace's stream.
func (s *Strays) Last() events.Sequence { return s.held.Head }

// Due is now: what they wait for is found by deciding.
func (s *Strays) Due(now events.Time) events.Time { return now }

// InFlight is the command of that name; nil when it has ended.
func (s *Strays) InFlight(name events.CommandID) events.Command { return s.held.InFlight(name) }

func (s *Strays) over() bool             { return s.held.over() }
func (s *Strays) began() events.Sequence { return s.held.first }

func (s *Strays) toWire() (*pb.JobState, *pb.StateNames) { return s.held.toWire() }

// strays are the pods of a namespace that nobody owns; nil when there are none.
func (w *World) strays(namespace string) *Strays {
	s, _ := w.subjects[events.NamespaceStream(namespace)].(*Strays)
	return s
}
