package audit

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/faults"
)

// TestTriesOfACommand: how many writes a command may have, and with which answers.
func TestTriesOfACommand(t *testing.T) {
	j := events.JobStream(job)
	create := func(s *story) events.CommandID { return s.decide(j, &events.CreatePod{Ordinal: 1}) }
	over := func(s *story) { s.record(j, &events.JobGone{}, events.Evidence{}) }
	restart := func(s *story) { s.record(events.Controller, &events.TermStarted{Term: 2}, events.Evidence{}) }
	for _, row := range []struct {
		sentence string
		play     func(s *story, id events.CommandID)
		wrong    bool
	}{
		{"a refusal, and the same again: one record", func(s *story, id events.CommandID) {
			s.end(j, id, refused(events.RefusedQuota), named("a"))
			s.end(j, id, done, named("a"))
			createPod(s, 403, "a", 1)
			createPod(s, 403, "a", 1)
			createPod(s, 201, "a", 1)
		}, false},
		{"a refusal of which the log has another class", func(s *story, id events.CommandID) {
			s.end(j, id, refused(events.RefusedQuota), named("a"))
			s.end(j, id, done, named("a"))
			createPod(s, 403, "a", 1)
			createPod(s, 422, "a", 1)
			createPod(s, 201, "a", 1)
		}, true},
		{"a try after the last outcome", func(s *story, id events.CommandID) {
			s.end(j, id, done, named("a"))
			createPod(s, 201, "a", 1)
			createPod(s, 409, "a", 1)
		}, true},
		{"tries in another order than the outcomes", func(s *story, id events.CommandID) {
			s.end(j, id, refused(events.RefusedQuota), named("a"))
			s.end(j, id, done, named("a"))
			createPod(s, 201, "a", 1)
			createPod(s, 403, "a", 1)
		}, true},
		{"a try whose answer was lost, and one that meets the pod", func(s *story, id events.CommandID) {
			s.end(j, id, lost, named("a"))
			again := create(s)
			s.end(j, again, done, named("a"))
			createPod(s, 201, "a", 1)
			createPod(s, 409, "a", 1)
		}, false},
		{"a try that the API server gave up, and one that meets the pod", func(s *story, id events.CommandID) {
			s.end(j, id, lost, named("a"))
			again := create(s)
			s.end(j, again, done, named("a"))
			createPod(s, 504, "a", 1)
			createPod(s, 409, "a", 1)
		}, false},
		{"done by a pod that no try made", func(s *story, id events.CommandID) {
			s.end(j, id, done, named("a"))
			createPod(s, 409, "a", 1)
		}, true},
		{"an answer that was lost, of a try that never arrived", func(s *story, id events.CommandID) {
			s.end(j, id, lost, named("a"))
		}, false},
		{"an answer that leaves open what happened, of a try that was never made", func(s *story, id events.CommandID) {
			s.end(j, id, lost, tells("a"))
		}, true},
		{"no outcome, and the Job went meanwhile", func(s *story, id events.CommandID) {
			createPod(s, 404, "a", 1)
			over(s)
		}, false},
		{"no outcome and no try, and the Job went meanwhile", func(s *story, id events.CommandID) { over(s) }, false},
		{"no outcome and two tries, and the Job went meanwhile", func(s *story, id events.CommandID) {
			createPod(s, 404, "a", 1)
			createPod(s, 404, "a", 1)
			over(s)
		}, true},
		{"no outcome, of a process that was killed", func(s *story, id events.CommandID) {
			createPod(s, 201, "a", 1)
			restart(s)
		}, false},
		{"asked again by the process after the one that was killed", func(s *story, id events.CommandID) {
			s.end(j, id, refused(events.RefusedServer), tells("a"))
			restart(s)
			s.end(j, id, done, named("a"))
			createPod(s, 503, "a", 1)
			createPod(s, 201, "a", 1)
			createPod(s, 409, "a", 1)
		}, false},
		{"no outcome", func(s *story, id events.CommandID) { createPod(s, 201, "a", 1) }, true},
		{"neither outcome nor try", func(s *story, id events.CommandID) {}, true},
		{"withdrawn, and sent all the same", func(s *story, id events.CommandID) {
			s.end(j, id, events.CommandEnded{Ending: events.Withdrawn}, named("a"))
			createPod(s, 201, "a", 1)
		}, true},
		{"refused without a request, and sent all the same", func(s *story, id events.CommandID) {
			s.end(j, id, events.CommandEnded{Ending: events.Refused, Class: events.RefusedTemplate}, named("a"))
			createPod(s, 201, "a", 1)
		}, true},
		{"taken back after it had ended", func(s *story, id events.CommandID) {
			s.decide(j, &events.Withdraw{Command: id})
			s.end(j, id, done, named("a"))
			s.end(j, id, events.CommandEnded{Ending: events.Withdrawn}, named("a"))
			createPod(s, 201, "a", 1)
		}, true},
		{"given back after it had ended, and nobody had asked for it", func(s *story, id events.CommandID) {
			s.end(j, id, done, named("a"))
			s.end(j, id, events.CommandEnded{Ending: events.Withdrawn}, named("a"))
			createPod(s, 201, "a", 1)
		}, true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s := newStory(t)
			row.play(s, create(s))
			if p := s.problems(); (len(p) > 0) != row.wrong {
				t.Errorf("problems: %v, want any: %t\n%s", len(p), row.wrong, strings.Join(p, "\n"))
			}
		})
	}
}

// TestNoCommandAsksForSuchAWrite: a write that does more than a write of ours is a problem.
func TestNoCommandAsksForSuchAWrite(t *testing.T) {
	j := events.JobStream(job)
	for sentence, metadata := range map[string]string{
		"another finalizer":         `"uid":"a","$deleteFromPrimitiveList/finalizers":["example.com/other"]`,
		"a label beside":            dropOf("a") + `,"labels":{"a":"b"}`,
		"whatever pod has the name": `"$deleteFromPrimitiveList/finalizers":["` + events.TrackingFinalizer + `"]`,
		"an annotation beside":      dropOf("a") + `,"annotations":{"a":"b"}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStory(t)
			id := s.decide(j, &events.DropFinalizer{Pod: "a"})
			s.end(j, id, done, named("demo-a"))
			patchPod(s, 200, "demo-a", metadata)
			if len(s.problems()) == 0 {
				t.Error("not found")
			}
		})
	}
}

// TestEachWriteBesideHasItsReason: no write of the list is one that a command asks for, and each has a reason.
func TestEachWriteBesideHasItsReason(t *testing.T) {
	for k, why := range beside {
		if why == "" || deeds[k] != nil {
			t.Errorf("%v: %q", k, why)
		}
	}
	s := newStory(t)
	s.write(201, controlplane.Write{Verb: "create", Resource: "events"}, nil)
	if p := s.problems(); len(p) > 0 {
		t.Errorf("a Kubernetes Event is a problem: %v", p)
	}
}

// TestJoin: the audit log and the calls of the proxy have the same writes. Calls that the proxy answered itself are
// added in their place.
func TestJoin(t *testing.T) {
	s := newStory(t)
	patchPod(s, 200, "demo-a", dropOf("a"))
	patchPod(s, 200, "demo-b", dropOf("b"))
	const path = "/api/v1/namespaces/ns/pods/"
	body := []byte(`{"metadata":{` + dropOf("a") + `}}`)
	calls := []faults.Call{
		{ID: "own", Method: http.MethodPatch, Path: path + "demo-a", Body: body, Kind: faults.Failed, Told: 500},
		{ID: "request-1", Method: http.MethodPatch, Path: path + "demo-b", Kind: faults.LateTimeout, Answer: 200, Told: 504},
		{ID: "request-0", Method: http.MethodPatch, Path: path + "demo-a", Answer: 200, Told: 200},
	}
	writes, problems := Join(s.logged, calls)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, want := range []struct {
		object     string
		code, told int
	}{{"a", 0, 500}, {"b", 200, 504}, {"a", 200, 200}} {
		if w := writes[i]; w.Object != want.object || w.Code != want.code || w.Told != want.told || w.Kind != events.CommandDropFinalizer {
			t.Errorf("write %d is %s", i, w.String())
		}
	}
	for sentence, change := range map[string]func() ([]controlplane.Write, []faults.Call){
		"a line that is missing": func() ([]controlplane.Write, []faults.Call) { return s.logged[:1], calls },
		"a call that is missing": func() ([]controlplane.Write, []faults.Call) { return s.logged, calls[:2] },
		"another code": func() ([]controlplane.Write, []faults.Call) {
			m := s.clone().logged
			m[0].Code = 409
			return m, calls
		},
		"a line twice": func() ([]controlplane.Write, []faults.Call) { return append(s.clone().logged, s.logged[0]), calls },
	} {
		if _, problems := Join(change()); len(problems) == 0 {
			t.Errorf("not found: %s", sentence)
		}
	}
}

// TestAWriteThatTheAPIServerDidNotRead: the controller is killed while it sends a create, so the audit log has a line
// without a body, and no answer comes back. The action is known from the proxy's copy of the call, and the code is that
// of the audit log.
func TestAWriteThatTheAPIServerDidNotRead(t *testing.T) {
	body := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"` + events.CommandAnnotation + `":"a"},` +
		`"ownerReferences":[{"uid":"` + job + `","controller":true}]}}`)
	logged := []controlplane.Write{{ID: "cut", Verb: "create", Resource: "pods", Namespace: "ns", Code: http.StatusInternalServerError}}
	calls := []faults.Call{{ID: "cut", Method: http.MethodPost, Path: "/api/v1/namespaces/ns/pods", Body: body}}
	writes, problems := Join(logged, calls)
	if len(problems) > 0 || len(writes) != 1 {
		t.Fatal(writes, problems)
	}
	want := Deed{Kind: events.CommandCreatePod, Object: "a", Owner: job}
	if w := writes[0]; w.Deed != want || w.Code != http.StatusInternalServerError || w.Told != 0 || w.ID != "cut" {
		t.Errorf("the write is %s", w.String())
	}
	calls[0].Body, calls[0].Answer = nil, http.StatusInternalServerError // an answered call must have its body in the audit log
	if _, problems := Join(logged, calls); len(problems) == 0 {
		t.Error("a line without a body is taken as a deed though the API server has answered")
	}
}
