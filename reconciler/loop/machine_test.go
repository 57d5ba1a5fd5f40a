package loop_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store/memlog"
)

// epoch is when every script begins.
const epoch = events.Time(1_700_000_000 * int64(time.Second))

// machine is the whole machine but for its hands and eyes: a script says what was seen and what became of commands, and
// reads what was written down.
type machine struct {
	t        *testing.T
	log      *memlog.Log
	loop     *loop.Loop
	settings events.Settings
	now      events.Time
	shown    events.Sequence
	version  uint64
	jobs     map[string]*events.Observation
	pods     map[types.UID]*events.Observation
}

func newMachine(t *testing.T) *machine {
	m := &machine{
		t: t, settings: events.DefaultSettings(), now: epoch, version: 100,
		log:  memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}),
		jobs: map[string]*events.Observation{}, pods: map[types.UID]*events.Observation{},
	}
	m.settings.Mode = events.ModeAll
	return m
}

// do runs one command of a script and returns what it led to.
func (m *machine) do(command string) string {
	words := strings.Fields(command)
	args := arguments(words[min(2, len(words)):])
	if words[0] == "start" {
		args = arguments(words[1:])
	}
	switch words[0] {
	case "start":
		m.start(args)
	case "synced":
		m.observe(
			&events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{m.version}}},
			&events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Pods}, Versions: []uint64{m.version}}},
		)
	case "relist":
		m.observe(&events.Observation{Facts: &events.ListingStarted{
			Reason: events.ListingRelisted, Resources: []events.Resource{events.Jobs, events.Pods},
		}})
	case "job":
		m.job(words[1], args)
	case "pod":
		m.pod(words[1], args)
	case "gone":
		m.gone(words[1], args)
	case "ended":
		m.ended(words[1], args)
	case "wait":
		d, err := time.ParseDuration(words[1])
		m.must(err)
		m.now = m.now.Add(d)
		m.turn()
	case "clock":
		d, err := time.ParseDuration(words[1])
		m.must(err)
		m.now = m.now.Add(d)
		m.loop.Step(m.now, events.ClockStepped{Step: d})
	case "state":
		return m.state(words[1])
	default:
		m.t.Fatalf("no such command: %s", command)
	}
	return m.news()
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func arguments(words []string) map[string]string {
	args := map[string]string{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		args[key] = value
	}
	return args
}

// start makes a new process on the log as it is.
func (m *machine) start(args map[string]string) {
	if v, ok := args["mode"]; ok && v == "delegated" {
		m.settings.Mode = events.ModeDelegated
	}
	world, err := loop.Recover(m.t.Context(), m.log)
	m.must(err)
	n := byte(0)
	m.loop = loop.New(loop.Config{
		Log: m.log, World: world, Settings: m.settings, Program: "test",
		Salt: func() events.Salt { n++; return events.Salt{n} },
	})
	m.must(m.loop.Start(m.now))
}

func (m *machine) turn(inputs ...loop.Input) {
	m.t.Helper()
	for {
		n, err := m.loop.Turn(m.now, inputs)
		m.must(err)
		inputs = inputs[n:]
		if wake := m.loop.Wake(); len(inputs) == 0 && (wake == 0 || wake > m.now) {
			return
		}
	}
}

func (m *machine) observe(all ...*events.Observation) {
	m.t.Helper()
	var inputs []loop.Input
	for _, o := range all {
		inputs = append(inputs, loop.Input{Observation: o})
	}
	m.turn(inputs...)
}

// job observes a Job: what is not given stays as it was, or is the API's default.
func (m *machine) job(name string, args map[string]string) {
	m.version++
	o := m.jobs[name]
	if o == nil {
		one := int32(1)
		six := int32(6)
		uid := types.UID("uid-" + name)
		o = &events.Observation{
			Job:      events.JobRef{Namespace: "ns", Name: name, UID: uid},
			Facts:    &events.JobSeen{Created: m.now.Second(), Managed: true, Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset}},
			Evidence: events.Evidence{Namespace: "ns", Name: name},
			Spec: &events.JobSpec{
				Parallelism: &one, Completions: &one, CompletionMode: "NonIndexed", BackoffLimit: &six,
				PodReplacementPolicy: "TerminatingOrFailed", RestartPolicy: "Never", Template: "t1",
			},
			Template: []byte("{}"),
		}
	}
	seen, spec := *o.Facts.(*events.JobSeen), *o.Spec
	seen.Version, seen.Status = m.version, &events.JobStatus{Ready: events.Unset, Terminating: events.Unset}
	if j := m.loop.World().Job(events.JobStream(o.Job.UID)); j != nil && j.Known() {
		seen.Status = j.Base.Record()
	}
	for key, value := range args {
		m.setJob(&seen, &spec, key, value)
	}
	spec.Hash = fmt.Sprintf("%v %v %v %v %v %v %v", *spec.Parallelism, text(spec.Completions), spec.CompletionMode,
		*spec.BackoffLimit, spec.ActiveDeadlineSeconds != nil, spec.Suspend, spec.PodReplacementPolicy)
	seen.Spec = spec.Hash
	next := *o
	next.Facts, next.Spec = &seen, &spec
	m.jobs[name] = &next
	m.observe(&next)
}

func text(v *int32) string {
	if v == nil {
		return "none"
	}
	return strconv.Itoa(int(*v))
}

func (m *machine) setJob(seen *events.JobSeen, spec *events.JobSpec, key, value string) {
	number := func() *int32 {
		n, err := strconv.ParseInt(value, 10, 32)
		m.must(err)
		v := int32(n)
		return &v
	}
	switch key {
	case "parallelism":
		spec.Parallelism = number()
	case "completions":
		spec.Completions = nil
		if value != "none" {
			spec.Completions = number()
		}
	case "indexed":
		spec.CompletionMode = "Indexed"
	case "backoffLimit":
		spec.BackoffLimit = number()
	case "deadline":
		seconds := int64(*number())
		spec.ActiveDeadlineSeconds = &seconds
	case "suspend":
		spec.Suspend = value == "true"
	case "replace":
		spec.PodReplacementPolicy = value
	case "deleting":
		seen.Deleted = m.now.Second()
	case "failed":
		seen.Status.Failed = *number()
	case "succeeded":
		seen.Status.Succeeded = *number()
	case "completedIndexes":
		seen.Status.CompletedIndexes = value
	case "finished":
		seen.Status.Conditions = append(seen.Status.Conditions, events.JobCondition{Type: value, Status: "True", Since: m.now.Second()})
	default:
		m.t.Fatalf("no such property of a job: %s", key)
	}
}

// pod observes a pod: demo#3 is the one that demo's third create made. What is not given stays as it was.
func (m *machine) pod(name string, args map[string]string) {
	m.version++
	jobName, number, _ := strings.Cut(name, "#")
	ordinal, err := strconv.ParseUint(number, 10, 64)
	m.must(err)
	uid := types.UID("uid-" + name)
	o := m.pods[uid]
	if o == nil {
		job := m.jobs[jobName].Job
		o = &events.Observation{
			Job: job,
			Facts: &events.PodSeen{
				UID: uid, Phase: events.PodPending, Created: m.now.Second(), Tracked: true, Owner: job.UID, Selected: true,
				Index: events.NoIndex, Ordinal: ordinal,
			},
			Evidence: events.Evidence{Namespace: "ns", Name: jobName + "-" + number},
		}
	}
	seen := *o.Facts.(*events.PodSeen)
	seen.Version = m.version
	for key, value := range args {
		m.setPod(&seen, key, value)
	}
	next := *o
	next.Facts = &seen
	m.pods[uid] = &next
	m.observe(&next)
}

func (m *machine) setPod(seen *events.PodSeen, key, value string) {
	switch key {
	case "phase":
		for _, p := range []events.PodPhase{events.PodPending, events.PodRunning, events.PodSucceeded, events.PodFailed, events.PodUnknown} {
			if p.String() == value {
				seen.Phase = p
			}
		}
		if seen.Phase.Terminal() {
			seen.Finished, seen.Ready = m.now.Second(), false
		}
		seen.Scheduled = seen.Phase != events.PodPending
	case "ready":
		seen.Ready, seen.ReadySince = true, m.now.Second()
	case "deleting":
		seen.Deleted = m.now.Second()
	case "untracked":
		seen.Tracked = false
	case "foreign":
		seen.Ordinal = 0
	case "index":
		n, err := strconv.ParseInt(value, 10, 32)
		m.must(err)
		seen.Index = int32(n)
	default:
		m.t.Fatalf("no such property of a pod: %s", key)
	}
}

func (m *machine) gone(name string, args map[string]string) {
	m.version++
	if !strings.Contains(name, "#") {
		o := *m.jobs[name]
		o.Facts = &events.JobGone{Version: m.version}
		m.observe(&o)
		return
	}
	o := *m.pods[types.UID("uid-"+name)]
	o.Facts = &events.PodGone{UID: types.UID("uid-" + name), Version: m.version}
	m.observe(&o)
}

// ended says how a command ended: ended 12/0 done uid=… | refused=Quota | unknown | withdrawn.
func (m *machine) ended(name string, args map[string]string) {
	at, place, _ := strings.Cut(name, "/")
	seq, err := strconv.ParseUint(at, 10, 64)
	m.must(err)
	n, err := strconv.ParseUint(place, 10, 32)
	m.must(err)
	command := events.CommandName{Decided: events.Sequence(seq), Place: uint32(n)}
	stream := events.Controller
	for rec, err := range m.log.Read(m.t.Context(), events.Sequence(seq)) {
		m.must(err)
		stream = rec.Stream
		break
	}
	ended := events.CommandEnded{Command: command, Sent: true}
	for key, value := range args {
		switch key {
		case "done":
			m.version++
			ended.Ending, ended.Version = events.Done, m.version
		case "uid":
			ended.UID = types.UID(value)
		case "unknown":
			ended.Ending = events.UnknownIf
		case "withdrawn":
			ended.Ending, ended.Sent = events.Withdrawn, false
		case "refused":
			ended.Ending = events.Refused
			for c := events.RefusedConflict; c <= events.RefusedTemplate; c++ {
				if c.String() == value {
					ended.Class = c
				}
			}
		default:
			m.t.Fatalf("no such ending: %s", key)
		}
	}
	m.turn(loop.Input{Result: &executor.Result{Stream: stream, Ended: ended}})
}

// news is what has been written down since the script looked last, and when the loop will look again by itself.
func (m *machine) news() string {
	var b strings.Builder
	for rec, err := range m.log.Read(m.t.Context(), m.shown+1) {
		m.must(err)
		m.shown = rec.Sequence
		m.show(&b, &rec)
	}
	if wake := m.loop.Wake(); wake != 0 {
		fmt.Fprintf(&b, "(looks again in %s)\n", wake.Sub(m.now))
	}
	return b.String()
}

func (m *machine) show(b *strings.Builder, rec *events.Record) {
	fmt.Fprintf(b, "%d %s", rec.Sequence, rec.Kind)
	switch f := rec.Facts.(type) {
	case *events.PodSeen:
		fmt.Fprintf(b, " %s %s", rec.Evidence.Name, f.Phase)
		if f.Deleted != 0 {
			b.WriteString(" deleting")
		}
		if !f.Tracked {
			b.WriteString(" untracked")
		}
	case *events.PodGone:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
		if f.Missed {
			b.WriteString(" missed")
		}
	case *events.JobSeen:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
		if f.Confirms != (events.CommandName{}) {
			fmt.Fprintf(b, " confirms %d/%d", f.Confirms.Decided, f.Confirms.Place)
		}
	case *events.JobGone:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
		if f.Missed {
			b.WriteString(" missed")
		}
	case *events.CommandEnded:
		fmt.Fprintf(b, " %d/%d %s %s", f.Command.Decided, f.Command.Place, f.Ending, f.Class)
	case *events.Decision:
		for _, s := range f.Steps {
			fmt.Fprintf(b, "\n   %s/%s %s: %s", s.Stage, s.Rule, s.Reason, s.Sentence)
			for _, c := range s.Commands {
				fmt.Fprintf(b, "\n      %s", events.Describe(c))
			}
		}
	}
	b.WriteString("\n")
}

// state is what the machine holds of a Job.
func (m *machine) state(name string) string {
	uid := types.UID("uid-" + name)
	j := m.loop.World().Job(events.JobStream(uid))
	if j == nil {
		if s, ok := m.loop.World().Stub(uid); ok {
			return fmt.Sprintf("a stub of %s/%s, finished %s\n", s.Ref.Namespace, s.Ref.Name, s.Finished.Sub(epoch))
		}
		return "nothing\n"
	}
	t := j.Tally()
	return fmt.Sprintf("active %d ready %d terminating %d succeeded %d failed %d; base %s\n",
		t.Active, t.Ready, t.Terminating, j.SucceededCount(), j.FailedCount(), base(&j.Base))
}

func base(s *projector.Status) string {
	text := fmt.Sprintf("active %d succeeded %d failed %d", s.Active, s.Succeeded, s.Failed)
	if s.Completed.Len() > 0 {
		text += " completed " + s.Completed.Text()
	}
	if n := len(s.UncountedSucceeded) + len(s.UncountedFailed); n > 0 {
		text += fmt.Sprintf(" uncounted %d", n)
	}
	for _, c := range s.Conditions {
		text += " " + c.Type
	}
	return text
}

// check replays the whole log and asks that deciding again yields nothing.
func (m *machine) check() {
	m.t.Helper()
	r := replay.New()
	for rec, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		found, err := r.Record(rec)
		m.must(err)
		for _, d := range found {
			m.t.Errorf("%s", d)
		}
	}
	for _, j := range r.World().Jobs() {
		if d := reconciler.Decide(j); d.Commands() && !r.World().Listing {
			m.t.Errorf("deciding again for %s yields %v", j.Ref.Name, d.Steps)
		}
	}
}
