package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// server takes Events like an API server: two Events cannot have one name.
type server struct {
	mu     sync.Mutex
	stored map[string]*corev1.Event
	told   []string
	calls  int
	fail   error     // answers every request, when set
	well   time.Time // until then, when set
}

func newServer() *server { return &server{stored: map[string]*corev1.Event{}} }

func (s *server) client() *fake.Clientset {
	c := &fake.Clientset{}
	c.AddReactor("create", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
		e := a.(clienttesting.CreateAction).GetObject().(*corev1.Event)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls++
		if s.fail != nil && (s.well.IsZero() || time.Now().Before(s.well)) {
			return true, nil, s.fail
		}
		if s.stored[e.Name] != nil {
			return true, nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "events"}, e.Name)
		}
		s.stored[e.Name] = e
		s.told = append(s.told, e.Reason+" "+e.Message)
		return true, e, nil
	})
	c.AddReactor("patch", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls++
		patch := a.(clienttesting.PatchAction)
		e := s.stored[patch.GetName()]
		if e == nil {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "events"}, "")
		}
		if s.fail != nil && (s.well.IsZero() || time.Now().Before(s.well)) {
			return true, nil, s.fail
		}
		return true, e, json.Unmarshal(patch.GetPatch(), e)
	})
	return c
}

func (s *server) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told
	s.told = nil
	return told
}

// appender appends records to a log, each a batch of its own, at the bubble's time.
type appender struct {
	t    *testing.T
	log  *memlog.Log
	next events.Sequence
	last map[events.Stream]events.Sequence
}

func newAppender(t *testing.T) *appender {
	a := &appender{
		t: t, log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), next: 1, last: map[events.Stream]events.Sequence{},
	}
	a.add(events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format}, events.Evidence{})
	a.add(demoStream, events.KindSpecStored, &events.JobSpec{Hash: "h", Completions: new(int32(1))}, events.Evidence{})
	a.add(demoStream, events.KindJobAdded, &events.JobSeen{Version: 1, Managed: true, Spec: "h", SpecAt: 2}, jobEvidence)
	return a
}

var (
	demoStream  = events.JobStream(demo.UID)
	jobEvidence = events.Evidence{Namespace: "default", Name: "demo"}
)

func (a *appender) add(s events.Stream, kind events.Kind, facts events.Facts, e events.Evidence) events.Sequence {
	a.t.Helper()
	rec := events.Record{
		Header: events.Header{
			Sequence: a.next, Time: events.At(time.Now()), Stream: s, Previous: a.last[s], Kind: kind,
			Critical: kind.Critical(), Last: true,
		},
		Facts: facts, Evidence: e, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
	}
	c := a.log.Append(events.Batch{Records: []events.Record{rec}}, true)
	<-c.Done()
	if err := c.Err(); err != nil {
		a.t.Fatal(err)
	}
	a.last[s] = a.next
	a.next++
	return rec.Sequence
}

func (a *appender) decide(commands ...events.Command) events.Sequence {
	a.t.Helper()
	return a.add(demoStream, events.KindDecided, &events.Decision{Steps: []events.Step{{Commands: commands}}}, events.Evidence{})
}

func (a *appender) end(decided events.Sequence, place uint32, ending events.Ending, pod string) {
	a.t.Helper()
	a.add(demoStream, events.KindCommandEnded, &events.CommandEnded{
		Command: events.CommandID{Decided: decided, Place: place}, Ending: ending,
	}, events.Evidence{Namespace: "default", Name: pod})
}

func (a *appender) confirm(decided events.Sequence) {
	a.t.Helper()
	a.add(demoStream, events.KindJobChanged, &events.JobSeen{
		Version: 9, Managed: true, Spec: "h", SpecAt: 2, Confirms: events.CommandID{Decided: decided},
	}, jobEvidence)
}

func complete() *events.WriteStatus {
	w := status(cond("SuccessCriteriaMet", "True"), cond("Complete", "True"))
	w.Change.CompletionTime, w.Change.Succeeded = 1, new(int32(2))
	return w
}

// publisher starts a new process on the log.
func publisher(t *testing.T, log store.Log, s *server, change ...func(*Config)) *Publisher {
	t.Helper()
	c := Config{Log: log, Client: s.client(), Mode: events.ModeDelegated, Logger: slog.New(slog.DiscardHandler)}
	for _, ch := range change {
		ch(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func catchUp(t *testing.T, p *Publisher) {
	t.Helper()
	if err := p.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, s *server, want ...string) {
	t.Helper()
	if got := s.take(); !slices.Equal(got, want) {
		t.Errorf("published:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPublishesWhatBecameDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		p := publisher(t, a.log, s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		create := a.decide(&events.CreatePod{Ordinal: 1})
		synctest.Wait()
		expect(t, s)
		a.end(create, 0, events.Done, "demo-x")
		synctest.Wait()
		expect(t, s, "SuccessfulCreate Created pod: demo-x")
		finish := a.decide(complete())
		a.end(finish, 0, events.Done, "")
		synctest.Wait()
		expect(t, s,
			"TooManySucceededPods Too many succeeded pods running after completion count reached", "Completed Job completed")
		if through, err := a.log.Offset(Consumer); err != nil || through != a.next-1 {
			t.Errorf("offset %d, %v; want %d", through, err, a.next-1)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// O-080: the source of an Event is job-controller, and its reporting instance names the controller.
func TestEventLooksLikeTheBuiltInControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		create := a.decide(&events.CreatePod{Ordinal: 1})
		a.end(create, 0, events.Done, "demo-x")
		at := time.Now()
		time.Sleep(time.Minute)
		catchUp(t, publisher(t, a.log, s))
		for _, e := range s.stored {
			want := corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: "default", Name: "demo", UID: demo.UID}
			if e.InvolvedObject != want {
				t.Errorf("about %+v", e.InvolvedObject)
			}
			if e.Source.Component != "job-controller" || e.ReportingController != "job-controller" || e.ReportingInstance != "jobledger" {
				t.Errorf("from %q, %q, %q", e.Source.Component, e.ReportingController, e.ReportingInstance)
			}
			if !e.FirstTimestamp.Time.Equal(at) || e.Type != "Normal" || e.Count != 1 || e.Namespace != "default" {
				t.Errorf("event %+v", e)
			}
			if want := "0f0f.1/5"; e.Annotations[RecordAnnotation] != want {
				t.Errorf("record %q, want %q", e.Annotations[RecordAnnotation], want)
			}
		}
		if len(s.stored) != 1 {
			t.Errorf("%d events", len(s.stored))
		}
	})
}

// O-084: the Event of an end has the verdict.
//
// TestTheEventOfAnEndHasTheVerdict: it has the verdict of the decision that ended the Job, also after a restart of the
// publisher in between. Other Events have none, and an end without a verdict has none.
func TestTheEventOfAnEndHasTheVerdict(t *testing.T) {
	const verdict = "COMPLETE after 3 s: 1 pod succeeded"
	for _, row := range []struct {
		sentence string
		evidence events.Evidence
		want     string
	}{
		{"a verdict", events.Evidence{Sentence: verdict}, verdict},
		{"no verdict", events.Evidence{}, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, s := newAppender(t), newServer()
				create := a.decide(&events.CreatePod{Ordinal: 1})
				a.end(create, 0, events.Done, "demo-x")
				ends := &events.Decision{Steps: []events.Step{{Commands: []events.Command{complete()}}}}
				finish := a.add(demoStream, events.KindDecided, ends, row.evidence)
				catchUp(t, publisher(t, a.log, s))
				a.end(finish, 0, events.Done, "")
				catchUp(t, publisher(t, a.log, s))
				got := map[string]string{}
				for _, e := range s.stored {
					got[e.Reason] = e.Annotations[VerdictAnnotation]
				}
				if got["Completed"] != row.want || got["SuccessfulCreate"] != "" || len(s.stored) < 2 {
					t.Errorf("annotations %q, want %q on the end alone", got, row.want)
				}
			})
		})
	}
}

// J-167: a crash does not make the finish be told twice.
//
// TestCrashes: each Event is stored once, whatever the publisher had read when it died.
func TestCrashes(t *testing.T) {
	want := []string{
		"SuccessfulCreate Created pod: demo-x",
		"SuccessfulDelete Deleted pod: demo-y",
		"TooManySucceededPods Too many succeeded pods running after completion count reached",
		"Completed Job completed",
	}
	for _, confirmed := range []string{"by its outcome", "by the Job, then its outcome", "by the Job alone"} {
		for crash := range 12 {
			t.Run(fmt.Sprintf("status confirmed %s, crash after record %d", confirmed, crash), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a, s := newAppender(t), newServer()
					p := publisher(t, a.log, s)
					step := func() {
						if int(a.next) == crash+1 {
							p = publisher(t, a.log, s) // knows nothing but the offset
						}
						catchUp(t, p)
					}
					step()
					pods := a.decide(&events.DropFinalizer{}, &events.CreatePod{Ordinal: 1}, &events.DeletePod{})
					step()
					a.end(pods, 1, events.Done, "demo-x")
					step()
					a.end(pods, 2, events.Done, "demo-y")
					step()
					finish := a.decide(complete())
					step()
					if confirmed != "by its outcome" {
						a.confirm(finish)
						step()
					}
					if confirmed == "by the Job alone" {
						a.end(finish, 0, events.OutcomeUnknown, "")
					} else {
						a.end(finish, 0, events.Done, "")
					}
					step()
					expect(t, s, want...)
				})
			})
		}
	}
}

func TestOffsetThatIsOldPublishesNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		create := a.decide(&events.CreatePod{Ordinal: 1}, &events.CreatePod{Ordinal: 2})
		a.end(create, 0, events.Done, "demo-x")
		a.end(create, 1, events.Done, "demo-y")
		catchUp(t, publisher(t, a.log, s))
		expect(t, s, "SuccessfulCreate Created pod: demo-x", "SuccessfulCreate Created pod: demo-y")
		if err := a.log.SetOffset(Consumer, 3); err != nil {
			t.Fatal(err)
		}
		catchUp(t, publisher(t, a.log, s))
		expect(t, s)
		if s.calls != 4 {
			t.Errorf("%d requests, want 4: the second two met themselves", s.calls)
		}
	})
}

func TestWhatIsOldIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		pods := a.decide(&events.CreatePod{Ordinal: 1}, &events.CreatePod{Ordinal: 2})
		a.end(pods, 0, events.Done, "demo-old")
		time.Sleep(time.Hour + time.Second)
		a.end(pods, 1, events.Done, "demo-new")
		catchUp(t, publisher(t, a.log, s))
		expect(t, s, "SuccessfulCreate Created pod: demo-new")
	})
}

func TestObserveModePublishesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		create := a.decide(&events.CreatePod{Ordinal: 1})
		a.end(create, 0, events.Done, "demo-x")
		p := publisher(t, a.log, s, func(c *Config) { c.Mode = events.ModeObserve })
		catchUp(t, p)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.Run(ctx); err != nil || s.calls != 0 {
			t.Errorf("Run: %v, %d requests", err, s.calls)
		}
	})
}

func TestWouldDecideIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		would := &events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.CreatePod{}}}}}
		a.add(demoStream, events.KindWouldDecide, would, events.Evidence{})
		p := publisher(t, a.log, s)
		catchUp(t, p)
		if n := p.commands.Open(demoStream); n != 0 {
			t.Errorf("%d commands remembered", n)
		}
		a.decide(&events.CreatePod{})
		catchUp(t, p)
		if n := p.commands.Open(demoStream); n != 1 {
			t.Errorf("%d commands remembered, want the one that was decided", n)
		}
	})
}

// J-195: Events that the server refuses hold up nothing, and later ones are sent.
func TestServerTrouble(t *testing.T) {
	gone := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("no"))
	for _, tt := range []struct {
		name  string
		fail  error
		after time.Duration // when the trouble ends
		want  int
	}{
		{"a lost connection is tried again", errors.New("connection refused"), 10 * time.Second, 1},
		{"a busy server is tried again", apierrors.NewTooManyRequests("busy", 1), 10 * time.Second, 1},
		{"trouble that lasts loses the Event and nothing else", errors.New("connection refused"), time.Hour, 0},
		{"a refusal loses the Event and nothing else", gone, time.Hour, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, s := newAppender(t), newServer()
				create := a.decide(&events.CreatePod{Ordinal: 1})
				a.end(create, 0, events.Done, "demo-x")
				s.fail, s.well = tt.fail, time.Now().Add(tt.after)
				catchUp(t, publisher(t, a.log, s))
				if n := len(s.take()); n != tt.want {
					t.Errorf("%d published, want %d", n, tt.want)
				}
				if through, _ := a.log.Offset(Consumer); through != a.next-1 {
					t.Errorf("offset %d, want %d", through, a.next-1)
				}
			})
		})
	}
}

func TestStopDoesNotWaitForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		create := a.decide(&events.CreatePod{Ordinal: 1})
		a.end(create, 0, events.Done, "demo-x")
		s.fail = errors.New("connection refused")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := publisher(t, a.log, s).Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("it took %s", d)
		}
		s.fail = nil
		catchUp(t, publisher(t, a.log, s)) // and nothing was lost
		expect(t, s, "SuccessfulCreate Created pod: demo-x")
	})
}

// O-081: many similar Events of a Job are combined into one with a count, as by every Kubernetes controller.
func TestFloodIsCombinedAndTheEndStillTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		var creates []events.Command
		for n := range 300 {
			creates = append(creates, &events.CreatePod{Ordinal: uint64(n + 1)})
		}
		pods := a.decide(creates...)
		for n := range creates {
			a.end(pods, uint32(n), events.Done, fmt.Sprintf("demo-%d", n))
		}
		finish := a.decide(complete())
		a.end(finish, 0, events.Done, "")
		catchUp(t, publisher(t, a.log, s))
		told := s.take()
		if len(told) > 20 || s.calls > 60 {
			t.Errorf("%d events in %d requests", len(told), s.calls)
		}
		if last := told[len(told)-1]; last != "Completed Job completed" {
			t.Errorf("the last is %q", last)
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		first := a.decide(&events.CreatePod{Ordinal: 1})
		var creates []events.Command
		for range 500 {
			creates = append(creates, &events.CreatePod{})
		}
		for range follow.MaxCommands/500 + 3 {
			a.decide(creates...)
		}
		p := publisher(t, a.log, s)
		catchUp(t, p)
		if n := p.commands.Open(demoStream); n > follow.MaxCommands {
			t.Errorf("%d commands remembered", n)
		}
		if p.commands.Of(demoStream, events.CommandID{Decided: first}) != nil {
			t.Fatal("the first command was not forgotten: this tests nothing")
		}
		a.end(first, 0, events.Done, "demo-x")
		catchUp(t, p)
		expect(t, s, "SuccessfulCreate Created pod: demo-x")
	})
}

func TestConfigRefusesWhatCannotWork(t *testing.T) {
	log, client := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), newServer().client()
	for name, c := range map[string]Config{
		"no log":       {Client: client, Mode: events.ModeAll},
		"no client":    {Log: log, Mode: events.ModeAll},
		"no mode":      {Log: log, Client: client},
		"negative age": {Log: log, Client: client, Mode: events.ModeAll, MaxAge: -1},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
