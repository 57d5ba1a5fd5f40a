package loop_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/notation"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// epoch is the time at which every script begins.
const epoch = events.Time(1_700_000_000 * int64(time.Second))

// machine is the whole controller without its informer and executor. A script gives the observations and the results of
// commands, and shows the records.
type machine struct {
	t        *testing.T
	log      *memlog.Log
	file     events.Sequence // the first record of the log's newest file
	loop     *loop.Loop
	settings events.Settings
	key      string // hashes the Jobs; empty for none
	now      events.Time
	shown    events.Sequence
	version  uint64
	jobs     map[string]*events.Observation
	crons    map[string]*events.Observation
	runs     map[string]*events.Observation // Jobs of CronJobs, except those in jobs
	pods     map[types.UID]*events.Observation
	lives    map[string]int // how many objects have had a name so far
	over     map[string]bool

	snapshotEvery events.Sequence // 0 for the usual, which is seldom
	snapshotStep  int
	restateBytes  int // 0 for the usual
	floodPace     time.Duration
	unreadable    error // the error of each read of a stream; nil when they can be read
}

func newMachine(t *testing.T) *machine {
	m := &machine{
		t: t, settings: events.DefaultSettings(), now: epoch, version: 100, file: 1,
		log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), floodPace: -1,
		jobs: map[string]*events.Observation{}, crons: map[string]*events.Observation{}, runs: map[string]*events.Observation{},
		pods: map[types.UID]*events.Observation{}, lives: map[string]int{}, over: map[string]bool{},
	}
	m.settings.Mode = events.ModeAll
	return m
}

// filed is the machine's log. Its files begin where the script says.
type filed struct {
	*memlog.Log
	m *machine
}

func (l filed) NextFile() events.Sequence { return l.m.file }

func (l filed) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	if l.m.unreadable != nil {
		return func(yield func(events.Record, error) bool) { yield(events.Record{}, l.m.unreadable) }
	}
	return l.Log.ReadStream(ctx, s, from, dir)
}

// do runs one command of a script and returns its results.
func (m *machine) do(command string) string {
	words := strings.Fields(command)
	args := arguments(words[min(2, len(words)):])
	if words[0] == "start" {
		args = arguments(words[1:])
	}
	switch words[0] {
	case "start":
		m.start(args)
	case "synced": // jobs, pods, cronjobs, or all; version=50 gives the version of the list
		m.synced(arguments(words[1:]))
	case "relist":
		m.observe(&events.Observation{Facts: &events.ListingStarted{Reason: events.ListingRelisted, Resources: m.listed(arguments(words[1:]))}})
	case "rewound": // a list proves that the cluster went back to version=50
		m.rewound(arguments(words[1:]))
	case "job":
		m.job(words[1], args)
	case "cronjob":
		m.cronJob(words[1], args)
	case "run":
		m.run(words[1], args)
	case "unseen": // a Job that pods name, and that was not observed
		m.jobs[words[1]] = &events.Observation{Job: events.JobRef{Namespace: "ns", Name: words[1], UID: types.UID("uid-" + words[1])}}
	case "pod":
		m.pod(words[1], args)
	case "group":
		m.group(words[1], args)
	case "gone":
		m.gone(words[1], args)
	case "ended":
		m.ended(words[1], args)
	case "wait":
		d, err := time.ParseDuration(words[1])
		m.must(err)
		m.now = m.now.Add(d)
		m.turn()
	case "busy": // time passes without a turn of the loop
		d, err := time.ParseDuration(words[1])
		m.must(err)
		m.now = m.now.Add(d)
	case "at": // a time of the clock has come
		m.at(words[1])
	case "stop": // the executor has got all commands so far
		m.loop.Durable(m.log.Head().Sequence)
		m.loop.Stop(m.now)
	case "clock":
		d, err := time.ParseDuration(words[1])
		m.must(err)
		m.now = m.now.Add(d)
		m.loop.Step(m.now, events.ClockStepped{Step: d})
	case "file": // the next records begin a new file of the log
		m.file = m.log.Head().Sequence + 1
	case "state":
		if m.crons[words[1]] != nil {
			return m.cronState(words[1])
		}
		return m.state(words[1])
	default:
		m.t.Fatalf("no such command: %s", command)
	}
	if m.loop == nil { // the line sets the time at which the script begins
		return ""
	}
	return m.news()
}

// listed returns the resources that a line names; all, when it names none.
func (m *machine) listed(args map[string]string) []events.Resource {
	all := []events.Resource{events.Jobs, events.Pods}
	if m.settings.CronJobs {
		all = append(all, events.CronJobs)
	}
	var out []events.Resource
	for _, r := range all {
		if _, ok := args[r.String()]; ok {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

func (m *machine) synced(args map[string]string) {
	version := m.version
	if v, ok := args["version"]; ok {
		n, err := strconv.ParseUint(v, 10, 64)
		m.must(err)
		version = n
	}
	var all []*events.Observation
	for _, r := range m.listed(args) {
		all = append(all, &events.Observation{Facts: &events.Synced{Resources: []events.Resource{r}, Versions: []uint64{version}}})
	}
	m.observe(all...)
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

// start begins a new process on the log as it is.
func (m *machine) start(args map[string]string) {
	switch args["mode"] {
	case "delegated":
		m.settings.Mode = events.ModeDelegated
	case "all":
		m.settings.Mode = events.ModeAll
	case "observe":
		m.settings.Mode = events.ModeObserve
	}
	if v, ok := args["namespace"]; ok {
		m.settings.Namespace = v
	}
	for flag, into := range map[string]*time.Duration{
		"pod-failure-backoff": &m.settings.PodFailureBackoff, "max-pod-failure-backoff": &m.settings.MaxPodFailureBackoff,
		"api-backoff": &m.settings.APIBackoff, "max-api-backoff": &m.settings.MaxAPIBackoff,
		"list-pace": &m.settings.ListPace,
	} {
		if v, ok := args[flag]; ok {
			d, err := time.ParseDuration(v)
			m.must(err)
			*into = d
		}
	}
	for flag, into := range map[string]*uint32{
		"slow-start": &m.settings.SlowStart, "held-at-end": &m.settings.HeldAtEnd, "at-once": &m.settings.MaxPodsPerDecision,
	} {
		if v, ok := args[flag]; ok {
			n, err := strconv.ParseUint(v, 10, 32)
			m.must(err)
			*into = uint32(n)
		}
	}
	if v, ok := args["key"]; ok { // another key than before: as if KEY were lost
		m.key = v
	}
	if v, ok := args["namespace-budget"]; ok {
		n, err := strconv.ParseInt(v, 10, 64)
		m.must(err)
		m.settings.NamespaceBudget = n
	}
	if _, ok := args["ttl"]; ok {
		m.settings.DeleteExpired = true
	}
	if v, ok := args["cronjobs"]; ok {
		m.settings.CronJobs = v != "off"
	}
	if _, ok := args["gang"]; ok {
		m.settings.GangScheduling = true
	}
	if m.loop != nil {
		m.log = m.log.Crash(1 << 30) // it is opened again, in another term
	}
	world, err := loop.Recover(m.t.Context(), m.log)
	m.must(err)
	n := byte(0)
	m.loop = loop.New(loop.Config{
		Log: filed{m.log, m}, World: world, Settings: m.settings, Program: "test", Key: m.key,
		SnapshotEvery: m.snapshotEvery, SnapshotStep: m.snapshotStep, RestateBytes: m.restateBytes, FloodPace: m.floodPace,
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

// pod observes a pod: demo#3 is the pod of demo's third create. A field that the line does not give keeps its value.
func (m *machine) pod(name string, args map[string]string) {
	m.version++
	jobName, number, _ := strings.Cut(name, "#")
	ordinal, err := strconv.ParseUint(number, 10, 64)
	m.must(err)
	uid := types.UID("uid-" + name)
	o := m.pods[uid]
	if o == nil {
		job := m.jobs[strings.TrimRight(jobName, "'")].Job
		o = &events.Observation{
			Job: job,
			Facts: &events.PodSeen{
				UID: uid, Phase: events.PodPending, Created: m.now.Second(), Tracked: true, Owner: job.UID, Selected: true,
				Index: events.NoIndex, Ordinal: ordinal,
			},
			Evidence: events.Evidence{Namespace: "ns", Name: jobName + "-" + number, Node: "node"},
		}
	}
	seen, next := *o.Facts.(*events.PodSeen), *o
	seen.Version = m.version
	if owner, ok := args["owner"]; ok { // first, because other fields apply only to a pod without an owner
		m.setPod(&seen, "owner", owner)
		next.Job = events.JobRef{}
		if owner != "none" {
			next.Job = m.jobs[owner].Job
		}
		delete(args, "owner")
	}
	for key, value := range args {
		m.setPod(&seen, key, value)
	}
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
	case "foreign":
		seen.Ordinal = 0
	case "unmarked": // no create of ours made it
		seen.Ordinal, seen.Unmarked = 0, true
	case "stale":
		seen.Version = 1
	case "owner": // none, or a Job's name
		seen.Owner, seen.Selected, seen.Candidates, seen.Maker = "", false, nil, ""
		if value != "none" {
			seen.Owner, seen.Selected = m.jobs[value].Job.UID, true
		}
	case "candidates":
		for _, name := range strings.Split(value, ",") {
			seen.Candidates = append(seen.Candidates, m.jobs[name].Job.UID)
		}
	case "maker":
		seen.Maker = m.jobs[value].Job.UID
	default:
		word := key
		if value != "" {
			word += "=" + value
		}
		ok, err := notation.Pod(seen, word, m.now)
		if m.must(err); !ok {
			m.t.Fatalf("no such property of a pod: %s", key)
		}
	}
}

// group observes the result of a search: group demo workload=w podgroup=g. With the word foreign the Workload belongs
// to another owner, with foreignPodGroup the PodGroup does.
func (m *machine) group(name string, args map[string]string) {
	f := &events.GroupSeen{Workload: args["workload"], PodGroup: args["podgroup"]}
	_, foreign := args["foreign"]
	if f.Workload != "" {
		f.Workloads, f.WorkloadUsable = 1, !foreign
	}
	if f.PodGroup != "" {
		_, foreign := args["foreignPodGroup"]
		f.PodGroups, f.PodGroupUsable = 1, !foreign
	}
	_, f.Unavailable = args["unavailable"]
	m.observe(&events.Observation{Job: m.jobs[name].Job, Facts: f})
}

func (m *machine) gone(name string, args map[string]string) {
	m.version++
	if m.cronGone(name) {
		return
	}
	if !strings.Contains(name, "#") {
		o := *m.jobs[name]
		o.Facts = &events.JobGone{Version: m.version}
		m.over[name] = true // the next Job of that name is another one
		m.observe(&o)
		return
	}
	o := *m.pods[types.UID("uid-"+name)]
	o.Facts = &events.PodGone{UID: types.UID("uid-" + name), Version: m.version}
	m.observe(&o)
}

// ended reports how a command ended, of record 12 or of the newest decision of demo:
//
//	ended 12/0 done uid=… | refused=Quota | unknown | withdrawn [again]
func (m *machine) ended(name string, args map[string]string) {
	at, place, _ := strings.Cut(name, "/")
	seq, err := strconv.ParseUint(at, 10, 64)
	if err != nil { // a name: its newest decision
		seq, err = m.newestDecision(at), nil
	}
	m.must(err)
	n, err := strconv.ParseUint(place, 10, 32)
	m.must(err)
	command := events.CommandID{Decided: events.Sequence(seq), Place: uint32(n)}
	stream := events.Controller
	for rec, err := range m.log.Read(m.t.Context(), events.Sequence(seq)) {
		m.must(err)
		stream = rec.Stream
		break
	}
	ended := events.CommandEnded{Command: command, Sent: true}
	others, again := map[string]string{}, false
	for key, value := range args {
		switch key {
		case "done":
			m.version++
			ended.Ending, ended.Version, ended.Written = events.Done, m.version, m.now.Second()
		case "uid":
			ended.UID = types.UID(value)
		case "unknown":
			ended.Ending = events.OutcomeUnknown
		case "after":
			ended.RetryAfter, err = time.ParseDuration(value)
			m.must(err)
		case "unsent": // the server was not asked
			ended.Sent = false
		case "withdrawn":
			ended.Ending, ended.Sent = events.Withdrawn, false
		case "again": // the executor did not have it: it was never submitted, or had ended
			again = true
		case "refused":
			ended.Ending = events.Refused
			for c := events.RefusedConflict; c <= events.RefusedTemplate; c++ {
				if c.String() == value {
					ended.Class = c
				}
			}
		default:
			if others[key] = value; stream.Kind != events.StreamCronJob {
				m.t.Fatalf("no such ending: %s", key)
			}
		}
	}
	result := &events.TaskResult{Stream: stream, Ended: ended, Again: again}
	if stream.Kind == events.StreamCronJob {
		m.cronEnded(result, others)
	}
	m.turn(loop.Input{Result: result})
}

// newestDecision returns the sequence of the newest decision with commands of a Job or CronJob.
func (m *machine) newestDecision(name string) (newest uint64) {
	var stream events.Stream
	if o := m.crons[name]; o != nil {
		stream = events.CronJobStream(o.Job.UID)
	} else {
		stream = events.JobStream(m.jobs[name].Job.UID)
	}
	for rec, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		if rec.Kind == events.KindDecided && rec.Stream == stream && asks(rec.Facts.(*events.Decision)) {
			newest = uint64(rec.Sequence)
		}
	}
	return newest
}

func asks(d *events.Decision) bool {
	for range d.Commands() {
		return true
	}
	return false
}

// news writes the records since the last call, the commands that are tried again, taken back or hastened, and the time
// of the loop's next wake.
func (m *machine) news() string {
	var b strings.Builder
	for rec, err := range m.log.Read(m.t.Context(), m.shown+1) {
		m.must(err)
		m.shown = rec.Sequence
		m.show(&b, &rec)
	}
	asks, back := m.loop.Asks()
	for _, t := range asks {
		fmt.Fprintf(&b, "(asks again: %d/%d %s)\n", t.Name.Decided, t.Name.Place, events.Describe(t.Command))
	}
	for _, t := range back {
		fmt.Fprintf(&b, "(takes back %d/%d)\n", t.Name.Decided, t.Name.Place)
	}
	for _, t := range m.loop.Hastened() {
		fmt.Fprintf(&b, "(hastens to priority %d: %d/%d %s)\n", t.Priority, t.Name.Decided, t.Name.Place, events.Describe(t.Command))
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
		if f.Waiting != "" {
			fmt.Fprintf(b, " waits: %s", f.Waiting)
		}
		if f.Deleted != 0 {
			b.WriteString(" deleting")
		}
		if !f.Tracked {
			b.WriteString(" untracked")
		}
		switch {
		case f.Owner == "":
			fmt.Fprintf(b, " ownerless, in %s", rec.Stream)
		case !f.Selected:
			b.WriteString(" unselected")
		}
	case *events.EpochChanged:
		fmt.Fprintf(b, " %d: %s went back from %d to %d", f.Epoch, f.Rewind.Resource, f.Rewind.Known, f.Rewind.Found)
	case *events.PodGone:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
		if f.Moved {
			b.WriteString(" moved")
		}
		if f.Missed {
			b.WriteString(" missed")
		}
	case *events.JobSeen:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
		if f.Confirms != (events.CommandID{}) {
			fmt.Fprintf(b, " confirms %d/%d", f.Confirms.Decided, f.Confirms.Place)
		}
	case *events.JobGone:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
		if f.Missed {
			b.WriteString(" missed")
		}
	case *events.JobRetired:
		fmt.Fprintf(b, " %s", rec.Evidence.Sentence)
	case *events.StoredState:
		fmt.Fprintf(b, " of %s", rec.Stream)
		if name := rec.Evidence.Name; name != "" {
			fmt.Fprintf(b, ", %s", name)
		}
	case *events.CommandEnded:
		fmt.Fprintf(b, " %d/%d %s %s", f.Command.Decided, f.Command.Place, f.Ending, f.Class)
	case *events.Decision:
		for _, s := range f.Steps {
			fmt.Fprintf(b, "\n   %s/%s %s: %s", s.Stage, s.Rule, s.Reason, s.Sentence)
			m.showStep(b, s.Cron)
			for _, c := range s.Commands {
				fmt.Fprintf(b, "\n      %s%s", events.Describe(c), m.besides(c))
			}
		}
	case *events.PassedOver:
		showPassedOver(b, rec, f)
	default:
		m.showCron(b, rec)
	}
	m.showTold(b, rec)
	showPassed(b, rec)
	b.WriteString("\n")
}

// besides writes the details of a command that events.Describe leaves out.
func (m *machine) besides(c events.Command) string {
	switch c := c.(type) {
	case *events.WriteCronStatus:
		return "; " + m.statusText(c.Active, c.LastSchedule, c.LastSuccess)
	case *events.CreateJob:
		return fmt.Sprintf(", stamped %s, by template %s", c.Stamp, c.Template)
	case *events.AdoptPod:
		if c.Mark {
			return ", and mark it as ours"
		}
	case *events.DropFinalizer:
		if c.Version != 0 {
			return ", if it is as it was seen"
		}
	}
	return ""
}
