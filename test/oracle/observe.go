package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/internal/run/known"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/observe"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// shown has the events that the watches of a cluster have delivered, each with the time at which the object was
// stored.
type shown struct {
	events []shownEvent
	jobs   int // number of Jobs created
	end    time.Time
}

type shownEvent struct {
	apiserver.Event
	at time.Time
}

// showUpstream runs a scenario with upstream's controller, and returns the events that the watches of its cluster
// deliver.
func showUpstream(t *testing.T, s Scenario, seed uint64) (out shown, err error) {
	synctest.Test(t, func(*testing.T) {
		err = inBubble(s, seed, asItComes, nil, func(c *cluster) error { return out.all(c.world) })
	})
	return out, err
}

func (s *shown) all(w *world.World) error {
	s.end = w.Clock.Now()
	at := map[uint64]time.Time{}
	for _, write := range w.Server.Writes(0) {
		at[write.Version] = write.Time
	}
	for _, kind := range []apiserver.Kind{apiserver.Jobs, apiserver.Pods} {
		cursor, err := w.Server.Watch(kind, 0)
		if err != nil {
			return err
		}
		for {
			e, ok, err := cursor.Next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if kind == apiserver.Jobs && e.Type == watch.Added {
				s.jobs++
			}
			s.events = append(s.events, shownEvent{e, at[e.Version]})
		}
	}
	return nil
}

// observer is a Jobledger with --manage=observe: it watches upstream and reports what it would do differently.
type observer struct {
	log  *memlog.Log
	loop *loop.Loop
	feed *observation.Feed
	now  events.Time
}

func newObserver(patience time.Duration) (*observer, error) {
	settings := events.DefaultSettings()
	settings.Mode = events.ModeObserve
	o := &observer{log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), now: events.At(world.Start)}
	folded, err := loop.Recover(context.Background(), o.log)
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	o.feed = observation.NewFeed(observation.Config{Mode: settings.Mode, Identity: o.log.Identity(), Known: known.Of(folded)})
	o.loop = loop.New(loop.Config{
		Log: o.log, World: folded, Settings: settings, Program: "oracle", Salt: func() events.Salt { return events.Salt{1} },
		Patience: patience,
	})
	if err := o.loop.Start(o.now); err != nil {
		return nil, fmt.Errorf("start the loop: %w", err)
	}
	if err := o.feed.ListJobs(nil, "1"); err != nil {
		return nil, fmt.Errorf("list Jobs: %w", err)
	}
	if err := o.feed.ListPods(nil, "1"); err != nil {
		return nil, fmt.Errorf("list Pods: %w", err)
	}
	return o, o.turn()
}

// turn makes the turn of the observer's loop that is due now. A command in it is an error, because an observer writes
// nothing.
func (o *observer) turn() error {
	var inputs []loop.Input
	for seen, ok := o.feed.Take(); ok; seen, ok = o.feed.Take() {
		inputs = append(inputs, loop.Input{Observation: &seen})
	}
	if n, err := o.loop.Turn(o.now, inputs); err != nil || n != len(inputs) {
		return fmt.Errorf("a turn took %d of %d inputs: %w", n, len(inputs), err)
	}
	if tasks, give := o.loop.Durable(o.log.Head().Sequence); len(tasks)+len(give) > 0 {
		return fmt.Errorf("in observe mode commands are to be carried out: %+v", tasks)
	}
	return nil
}

// pass moves the observer's clock to `to`. On the way it makes a turn at each time at which the loop wants to wake.
func (o *observer) pass(to events.Time) error {
	for wake := o.loop.Wake(); wake != 0 && wake <= to; wake = o.loop.Wake() {
		o.now = max(o.now, wake)
		if err := o.turn(); err != nil {
			return err
		}
	}
	o.now = max(o.now, to)
	return nil
}

// show delivers all events of upstream's cluster to the observer. Each watch keeps its order, and events come up to a
// second late.
func (o *observer) show(s shown, rng *rand.Rand) error {
	last := map[bool]time.Time{}
	for i := range s.events {
		e := &s.events[i]
		_, pod := e.Object.(*corev1.Pod)
		e.at = e.at.Add(time.Duration(rng.Int64N(int64(time.Second))))
		if e.at.Before(last[pod]) {
			e.at = last[pod]
		}
		last[pod] = e.at
	}
	slices.SortStableFunc(s.events, func(a, b shownEvent) int { return a.at.Compare(b.at) })
	for _, e := range s.events {
		if err := o.pass(events.At(e.at)); err != nil {
			return err
		}
		if err := o.deliver(e.Event); err != nil {
			return fmt.Errorf("event %d: %w", e.Version, err)
		}
		if err := o.turn(); err != nil {
			return err
		}
	}
	return o.pass(events.At(s.end))
}

func (o *observer) deliver(e apiserver.Event) error {
	gone := e.Type == watch.Deleted
	switch object := e.Object.(type) {
	case *batchv1.Job:
		if gone {
			return o.feed.JobDeleted(object)
		}
		return o.feed.JobChanged(object)
	case *corev1.Pod:
		if gone {
			return o.feed.PodDeleted(object)
		}
		return o.feed.PodChanged(object)
	}
	return fmt.Errorf("the oracle shows no %T", e.Object)
}

// difference is one WouldDecide record of the observer: Jobledger would have decided something that upstream did not
// do.
type difference struct {
	at     time.Time
	reason events.Reason
	text   string
	why    string // why the built-in controller did not do it; empty if no reason is known
}

// differences returns all WouldDecide records of the observer's log: what Jobledger would have done and upstream did
// not.
func (o *observer) differences() (out []difference, err error) {
	for rec, err := range o.log.Read(context.Background(), 0) {
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		if rec.Kind != events.KindWouldDecide {
			continue
		}
		for _, step := range rec.Facts.(*events.Decision).Steps {
			out = append(out, difference{
				at: rec.Time.Go(), reason: step.Reason,
				text: fmt.Sprintf("%s %s %s: %s", rec.Time.Go().Sub(world.Start), rec.Stream, step.Reason, step.Sentence),
			})
		}
	}
	return out, nil
}

// spell is a span of time in which a controller could not work normally: it was dead, saw nothing new, or was
// refused.
type spell struct{ from, to time.Time }

// lastRetry is the longest wait before a controller repeats a refused request (J-017).
const lastRetry = time.Minute

// hindered returns the spans of time in which the controller is dead, sees nothing new, or has requests refused. Each
// span ends lastRetry later than the cause, because the controller may still wait for its next try.
func (s Scenario) hindered(end time.Time) (out []spell) {
	since := map[string]time.Time{}
	over := func(what string, at time.Time) {
		if from, ok := since[what]; ok {
			out = append(out, spell{from, at.Add(lastRetry)})
			delete(since, what)
		}
	}
	now := world.Start
	deeds := func(all []string) {
		for _, deed := range all {
			verb, _, _ := strings.Cut(deed, " ")
			switch verb {
			case "deny", "hold", "die":
				if _, known := since[verb]; !known {
					since[verb] = now
				}
			case "allow":
				over("deny", now)
			case "release":
				over("hold", now)
			case "start":
				over("die", now)
			}
		}
	}
	for _, step := range s.Steps {
		now = now.Add(step.Wait)
		deeds(step.Deeds)
	}
	now = now.Add(slot)
	deeds(s.end())
	for what := range since {
		over(what, end)
	}
	return out
}

// watchUpstream runs a scenario with upstream's controller and shows it to an observer. It returns the number of Jobs,
// and the differences that the observer recorded.
func watchUpstream(t *testing.T, s Scenario, seed uint64) (jobs int, found []difference, err error) {
	all, err := showUpstream(t, s, seed)
	if err != nil {
		return 0, nil, fmt.Errorf("upstream: %w", err)
	}
	o, err := newObserver(observe.DefaultPatience)
	if err != nil {
		return 0, nil, err
	}
	if err := o.show(all, rand.New(rand.NewPCG(seed, 0x0b5e))); err != nil {
		return 0, nil, err
	}
	found, err = o.differences()
	hindered := s.hindered(all.end)
	for i := range found {
		found[i].why = all.why(found[i], hindered)
	}
	return all.jobs, found, err
}

// Reasons why the built-in controller did not follow the rules.
const (
	whyHindered = "the built-in controller was hindered"
	whyNoStart  = "a suspended Job without a start time is not finished (J-156, J-252)"
)

// why returns the reason for which the built-in controller did not follow the rules in time; empty if there is none. A
// difference with the reason Unexplained never has one.
func (s shown) why(d difference, hindered []spell) string {
	since := d.at.Add(-observe.DefaultPatience)
	switch {
	case d.reason == reconciler.Unexplained:
		return ""
	case slices.ContainsFunc(hindered, func(h spell) bool { return h.from.Before(d.at) && h.to.After(since) }):
		return whyHindered
	case s.unfinished(d.at):
		return whyNoStart
	}
	return ""
}

// unfinished reports whether at the time at there was a Job that has no start time, but a stored condition that says
// that it will end.
func (s shown) unfinished(at time.Time) bool {
	last := map[types.UID]*batchv1.Job{}
	for _, e := range s.events {
		if j, ok := e.Object.(*batchv1.Job); ok && !e.at.After(at) {
			if last[j.UID] = j; e.Type == watch.Deleted {
				delete(last, j.UID)
			}
		}
	}
	for _, j := range last {
		if j.Status.StartTime == nil && !apiserver.JobFinished(j) && slices.ContainsFunc(j.Status.Conditions, aboutToEnd) {
			return true
		}
	}
	return false
}

func aboutToEnd(c batchv1.JobCondition) bool {
	return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailureTarget || c.Type == batchv1.JobSuccessCriteriaMet)
}
