package loop_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// checkState encodes and decodes the whole state of a world after every record of a script, and goes on with the
// decoded world. It must equal the world that stayed in memory, lead to the same decisions, and know where each pod is
// (design §2, invariant 5). Then checkState begins a snapshot at every record, as the loop makes them: each stream is
// as of another record. A recovery from it must give the same world.
func (m *machine) checkState() {
	m.t.Helper()
	var log []events.Record
	for rec, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		log = append(log, rec)
	}
	kept, again := projector.NewWorld(), projector.NewWorld()
	for i := range log {
		kept.Apply(&log[i])
		again.Apply(&log[i])
		again = m.restored(snapshotOf(again), nil)
		if !m.sameWorld(fmt.Sprintf("after record %d, to the wire and back", i+1), kept, again) {
			return
		}
	}
	for i := range log {
		got := m.restored(staggered(log, i), log)
		if !m.sameWorld(fmt.Sprintf("recovered from a snapshot that was begun at record %d", i+1), kept, got) {
			return
		}
	}
}

// checkFiles reads the log from the first record of each file on, as if the files before were pruned. The controller's
// state, and the state of each stream with a record there, must be the same as from the whole log (design §4).
func (m *machine) checkFiles() {
	m.t.Helper()
	var log []events.Record
	for rec, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		log = append(log, rec)
	}
	for i := range log {
		if log[i].Kind == events.KindStateStored && log[i].Stream == events.Controller {
			m.checkFile(log, i)
		}
	}
}

// checkFile checks the file that begins with log[first].
func (m *machine) checkFile(log []events.Record, first int) {
	m.t.Helper()
	whole, file := projector.NewWorld(), projector.NewWorld()
	for i := range log {
		whole.Apply(&log[i])
		if i < first {
			continue
		}
		file.Apply(&log[i])
		what := fmt.Sprintf("read from record %d to %d", first+1, i+1)
		newest, alone := whole.Restated() // until the file stands alone, the zones in use are not known
		if d := cmp.Diff(controller(whole), controller(file)); d != "" || newest == alone && !bytes.Equal(whole.ControllerFacts(), file.ControllerFacts()) {
			m.t.Errorf("%s: the controller is another (-want +got):\n%s", what, d)
			return
		}
		for _, s := range whole.Streams() {
			if whole.Previous(s) > events.Sequence(first) && !m.sameStream(what, s, whole, file) {
				return
			}
		}
		for _, s := range file.Streams() {
			if whole.Previous(s) == 0 {
				m.t.Errorf("%s: there is %s, of which nothing is known", what, s)
				return
			}
		}
	}
}

// snapshotOf returns a snapshot of everything as of one record.
func snapshotOf(w *projector.World) []projector.StreamAt {
	all := []projector.StreamAt{{Stream: events.Controller, AsOf: w.Head, Facts: w.ControllerState()}}
	for _, s := range w.Streams() {
		facts, names, _ := w.StreamState(s)
		all = append(all, projector.StreamAt{Stream: s, AsOf: w.Head, Facts: facts, Names: names})
	}
	return all
}

// staggered returns a snapshot as the loop makes it: it has the streams that there were at the beginning, one after
// each record that follows, and the controller's stream last.
func staggered(log []events.Record, begun int) (all []projector.StreamAt) {
	w := projector.NewWorld()
	for i := range log[:begun+1] {
		w.Apply(&log[i])
	}
	todo, next := w.Streams(), begun+1
	for _, s := range todo {
		facts, names, _ := w.StreamState(s)
		all = append(all, projector.StreamAt{Stream: s, AsOf: w.Head, Facts: facts, Names: names})
		if next < len(log) {
			w.Apply(&log[next])
			next++
		}
	}
	return append(all, projector.StreamAt{Stream: events.Controller, AsOf: w.Head, Facts: w.ControllerState()})
}

// restored makes a world from a snapshot and the records of a log after it.
func (m *machine) restored(snapshot []projector.StreamAt, log []events.Record) *projector.World {
	m.t.Helper()
	w, from, err := projector.Restore(snapshot)
	m.must(err)
	for i := range log {
		if log[i].Sequence > from {
			w.Apply(&log[i])
		}
	}
	w.Recovered()
	return w
}

// wholeJob compares everything public about a Job and its pods, also fields on which no decision depends.
var wholeJob = []cmp.Option{
	cmpopts.IgnoreUnexported(projector.Job{}, projector.Pod{}), cmp.AllowUnexported(projector.Tries{}), cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b indexset.Set) bool { return a.Text() == b.Text() }),
}

// sameWorld reports whether two worlds hold the same state and lead to the same decisions.
func (m *machine) sameWorld(what string, want, got *projector.World) bool {
	m.t.Helper()
	if d := cmp.Diff(want.Streams(), got.Streams()); d != "" {
		m.t.Errorf("%s: other streams (-want +got):\n%s", what, d)
		return false
	}
	if !bytes.Equal(want.ControllerState(), got.ControllerState()) {
		m.t.Errorf("%s: the controller's state is another", what)
		return false
	}
	if d := cmp.Diff(controller(want), controller(got)); d != "" {
		m.t.Errorf("%s: the controller is another (-want +got):\n%s", what, d)
		return false
	}
	for _, s := range want.Streams() {
		if !m.sameStream(what, s, want, got) {
			return false
		}
	}
	return true
}

// sameStream reports whether two worlds hold the same state of one stream, and decide alike for it.
func (m *machine) sameStream(what string, s events.Stream, want, got *projector.World) bool {
	m.t.Helper()
	a, an, _ := want.StreamState(s)
	b, bn, _ := got.StreamState(s)
	if !bytes.Equal(a, b) || !bytes.Equal(an, bn) || want.RefOf(s) != got.RefOf(s) {
		m.t.Errorf("%s: the state of %s is another (-want +got):\n%s", what, s, cmp.Diff(stateText(a, an), stateText(b, bn)))
		return false
	}
	if c, ok := want.Subject(s).(*projector.CronJob); ok {
		return m.sameCron(what, s, c, got.CronJob(s))
	}
	wants, gets := heldBy(want.Subject(s)), heldBy(got.Subject(s))
	if wants == nil {
		return true // a retired Job has nothing else than its state
	}
	if d := cmp.Diff(wants, gets, wholeJob...) + cmp.Diff(wants.Pods(), gets.Pods(), wholeJob...); d != "" {
		m.t.Errorf("%s: %s (-want +got):\n%s", what, s, d)
		return false
	}
	if d := cmp.Diff(derived(want, s), derived(got, s)); d != "" {
		m.t.Errorf("%s: %s (-want +got):\n%s", what, s, d)
		return false
	}
	return true
}

// sameCron reports whether two CronJobs have the same public fields and lead to the same decisions.
func (m *machine) sameCron(what string, s events.Stream, want, got *projector.CronJob) bool {
	m.t.Helper()
	d := cmp.Diff(&want.CronJob, &got.CronJob, cmpopts.IgnoreUnexported(cronjob.CronJob{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(cronjob.CronJob{}, "Settings"))
	if d += cmp.Diff(derivedOfCron(want), derivedOfCron(got)); d != "" {
		m.t.Errorf("%s: %s (-want +got):\n%s", what, s, d)
		return false
	}
	return true
}

// derivedOfCron writes everything that is computed from the state of a CronJob and not stored in it.
func derivedOfCron(c *projector.CronJob) string {
	var b strings.Builder
	fmt.Fprintf(&b, "busy %v, known %v, retry %+v\n", c.Busy(), c.Known(), *c.Retry())
	if plan := c.Plan(); c.Known() && plan.Err == nil {
		fmt.Fprintf(&b, "zone %v %v %s, next %v\n", plan.ZoneErr, plan.Zone, plan.Hash, plan.Schedule.Next(c.Now.Go()))
	}
	for _, d := range []time.Duration{0, time.Second, time.Minute, time.Hour, 25 * time.Hour} {
		fmt.Fprintf(&b, "in %s: %s\n", d, decidedAt(c, c.Now.Add(d), 0))
	}
	return b.String()
}

// controller writes all that other packages can see of a world besides its streams.
func controller(w *projector.World) string {
	return fmt.Sprintf("%+v, head %d, now %d, settings %+v, program %s, rules %d, listing %v, previous %d, newest %d %d", w.Identity,
		w.Head, w.Now, w.Settings, w.Program, w.Rules, w.Listing, w.Previous(events.Controller),
		w.Newest(events.Jobs), w.Newest(events.Pods))
}

func stateText(facts, names []byte) string {
	var f pb.JobState
	var n pb.StateNames
	if err := proto.Unmarshal(facts, &f); err != nil {
		return err.Error()
	}
	if err := proto.Unmarshal(names, &n); err != nil {
		return err.Error()
	}
	return prototext.Format(&f) + prototext.Format(&n)
}

// heldBy returns the Job that holds the pods of a subject; nil for a retired Job.
func heldBy(s projector.Subject) *projector.Job {
	switch s := s.(type) {
	case *projector.Job:
		return s
	case *projector.Strays:
		return s.Holder()
	}
	return nil
}

// derived writes everything that is computed from a state and not stored in it: counts, queues, commands in flight, the
// streams of pods, and the decisions now and later.
func derived(w *projector.World, s events.Stream) string {
	subject := w.Subject(s)
	j := heldBy(subject)
	in := intake.Intake{World: w}
	var b strings.Builder
	fmt.Fprintf(&b, "%+v, %d succeeded, %d failed, removing %v, in doubt %v, quiet %v\n", j.Tally(), j.SucceededCount(), j.FailedCount(),
		j.Removing(), j.PodsInDoubt(), j.Quiet())
	fmt.Fprintf(&b, "free %v, crowded %v, failed indexes %s\n", j.FreeIndexes(20), j.Crowded(), j.FailedIndexes().Text())
	for i, queue := range []func(func(*projector.Pod) bool){j.Unlisted(), j.Released(), j.Surplus(), j.HeldAll(), j.Orphaned(), j.Disowned()} {
		for p := range queue {
			fmt.Fprintf(&b, "queue %d: %s\n", i, p.UID)
		}
	}
	flight := func(f *commands.Flight) {
		if f != nil {
			_, retry := j.Retrying(f.Name())
			fmt.Fprintf(&b, "in flight %v, retrying %v: %v\n", j.InFlight(f.Name()) != nil, retry != nil, f.Name())
		}
	}
	for _, f := range []*commands.Flight{j.Write(), j.Reading(), j.Grouping()} {
		flight(f)
	}
	for _, c := range j.Creates() {
		flight(c.Flight())
	}
	for _, p := range j.Pods() {
		fmt.Fprintf(&b, "%s fails the Job %v, ignored %v, lives", p.UID, p.FailsJob(), p.Ignored())
		for _, d := range in.Admit(&events.Observation{Facts: &events.PodGone{UID: p.UID}}, w.Head+1) {
			fmt.Fprintf(&b, " in %s", d.Stream)
		}
		b.WriteString("\n")
		flight(p.Drop())
		flight(p.Delete())
		flight(p.Claim())
	}
	for _, d := range []time.Duration{0, time.Second, time.Minute, 20 * time.Minute} {
		fmt.Fprintf(&b, "in %s: %s\n", d, decidedAt(subject, w.Now.Add(d), 0))
	}
	return b.String()
}
