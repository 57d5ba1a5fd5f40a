package audit

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// story is a log and the writes that the API server logged meanwhile.
type story struct {
	t       *testing.T
	records []events.Record
	logged  []controlplane.Write
}

const (
	ns   = "ns"
	job  = types.UID("job-uid")
	cron = types.UID("cron-uid")
)

var life = events.Identity{LogID: "0f0f", Epoch: 1}

func newStory(t *testing.T) *story {
	s := &story{t: t}
	s.record(events.Controller, &events.LogCreated{LogID: life.LogID, Epoch: life.Epoch}, events.Evidence{})
	s.record(events.Controller, &events.TermStarted{Term: 1}, events.Evidence{})
	s.record(events.JobStream(job), &events.JobSeen{}, events.Evidence{Namespace: ns, Name: "demo"})
	s.record(events.CronJobStream(cron), &events.CronJobSeen{}, events.Evidence{Namespace: ns, Name: "nightly"})
	return s
}

func (s *story) record(stream events.Stream, facts events.Facts, evidence events.Evidence) events.Sequence {
	at := events.Sequence(len(s.records) + 1)
	kind := events.Kind(0)
	switch facts.(type) {
	case *events.Decision:
		kind = events.KindDecided
	case *events.CommandEnded:
		kind = events.KindCommandEnded
	}
	s.records = append(s.records, events.Record{
		Header: events.Header{Sequence: at, Stream: stream, Kind: kind}, Facts: facts, Evidence: evidence,
	})
	return at
}

// decide records a decision with one command.
func (s *story) decide(stream events.Stream, c events.Command) events.CommandID {
	at := s.record(stream, &events.Decision{Steps: []events.Step{{Commands: []events.Command{c}}}}, events.Evidence{})
	return events.CommandID{Decided: at}
}

// end records an outcome.
func (s *story) end(stream events.Stream, id events.CommandID, e events.CommandEnded, evidence events.Evidence) {
	for _, rec := range s.records {
		if d, ok := rec.Facts.(*events.Decision); ok && rec.Sequence == id.Decided {
			e.Type = d.Commands()[id.Place].Traits().Kind
		}
	}
	e.Command = id
	s.record(stream, &e, evidence)
}

// write adds a write to the audit log.
func (s *story) write(code int, w controlplane.Write, body any) {
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		w.Body = string(text)
	}
	w.ID, w.Code, w.Namespace = fmt.Sprintf("request-%d", len(s.logged)), code, ns
	s.logged = append(s.logged, w)
}

func (s *story) all() iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for _, r := range s.records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// problems returns what Check finds when no proxy is between the controller and the API server.
func (s *story) problems() []string {
	var writes []Write
	var problems []string
	for i := range s.logged {
		if w, problem := read(&s.logged[i]); problem != "" {
			problems = append(problems, problem)
		} else if w != nil {
			w.Told = w.Code
			writes = append(writes, *w)
		}
	}
	report, err := Check(writes, s.all())
	if err != nil {
		s.t.Fatal(err)
	}
	return append(problems, report.Problems...)
}

func (s *story) clone() *story {
	return &story{s.t, slices.Clone(s.records), slices.Clone(s.logged)}
}

// The requests as the controller makes them.

func createPod(s *story, code int, name string, ordinal uint64) {
	yes := true
	s.write(code, controlplane.Write{Verb: "create", Resource: "pods", Name: name}, map[string]any{"metadata": metav1.ObjectMeta{
		Annotations:     map[string]string{events.CommandAnnotation: life.CommandOf(job, ordinal)},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", UID: job, Controller: &yes}},
	}})
}

func deletePod(s *story, code int, name string, uid types.UID) {
	s.write(code, controlplane.Write{Verb: "delete", Resource: "pods", Name: name}, &metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid},
	})
}

func patchPod(s *story, code int, name, metadata string) {
	s.write(code, controlplane.Write{Verb: "patch", Resource: "pods", Name: name}, json.RawMessage(`{"metadata":{`+metadata+`}}`))
}

func writeStatus(s *story, code int, version string) {
	s.write(code, controlplane.Write{
		Group: "batch", Verb: "update", Resource: "jobs/status", Name: "demo", UID: string(job), Version: version,
	}, nil)
}

func dropOf(uid types.UID) string {
	return fmt.Sprintf(`"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]`, uid, events.TrackingFinalizer)
}

var (
	done = events.CommandEnded{Ending: events.Done, Sent: true}
	lost = events.CommandEnded{Ending: events.OutcomeUnknown, Sent: true}
)

func refused(class events.RefusalClass) events.CommandEnded {
	return events.CommandEnded{Ending: events.Refused, Class: class, Sent: true}
}

func named(name string) events.Evidence { return events.Evidence{Namespace: ns, Name: name} }

// tells returns evidence like named, with a reason that the API server gave.
func tells(name string) events.Evidence {
	return events.Evidence{Namespace: ns, Name: name, Reason: "InternalError", Message: "words of the API server"}
}
