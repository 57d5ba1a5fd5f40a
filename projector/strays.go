package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Strays holds those pods without an owner of one namespace that this controller must look at: pods with our finalizer,
// and pods that a Job which was not seen yet may adopt. See the table in intake/orphans.go.
type Strays struct {
	// held keeps the state of the pods and of commands about them, like a Job does. It has no Job object, so it owns
	// none of the pods.
	held *Job
	// awaiting maps the UID of each Job that was not seen yet to the pods that it may adopt.
	awaiting map[types.UID]map[types.UID]struct{}
}

func newStrays(held *Job) *Strays {
	s := &Strays{held: held, awaiting: map[types.UID]map[types.UID]struct{}{}}
	for uid := range held.byUID {
		s.await(uid)
	}
	return s
}

// Holder returns held, the Job without an object that keeps the state of the pods.
func (s *Strays) Holder() *Job { return s.held }

// Apply updates the pods by a record.
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

// WaitFor returns the pods that the given Job may adopt once it is seen.
func (s *Strays) WaitFor(job types.UID) map[types.UID]*Pod {
	if len(s.awaiting[job]) == 0 {
		return nil
	}
	waiting := map[types.UID]*Pod{}
	for uid := range s.awaiting[job] {
		waiting[uid] = s.held.byUID[uid]
	}
	return waiting
}

// ID returns the name of the namespace's stream (its part of the log).
func (s *Strays) ID() events.Stream { return s.held.Stream }

// Reference returns a reference with only the namespace set.
func (s *Strays) Reference() events.JobRef { return s.held.Ref }

// Time returns the time of the newest record about the pods.
func (s *Strays) Time() events.Time { return s.held.Now }

// Last returns the sequence (place in the log) of the newest record about the pods.
func (s *Strays) Last() events.Sequence { return s.held.Head }

// Due returns now: only a decision can tell what the pods wait for.
func (s *Strays) Due(now events.Time) events.Time { return now }

// InFlight returns the command with the ID name if it is in flight (decided, and not ended); else nil.
func (s *Strays) InFlight(name events.CommandID) events.Command { return s.held.InFlight(name) }

func (s *Strays) over() bool             { return s.held.over() }
func (s *Strays) began() events.Sequence { return s.held.first }

func (s *Strays) toWire() (*pb.JobState, *pb.StateNames) { return s.held.toWire() }

// Strays returns the orphan pods of a namespace that this controller must look at; nil if there are none.
func (w *World) Strays(namespace string) *Strays {
	s, _ := w.subjects[events.NamespaceStream(namespace)].(*Strays)
	return s
}
