package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/kube"
	"github.com/jobledger/jobledger/internal/dev/sim/notation"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/trigger"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/projector"
)

// serverWords is the API server's message when it refuses a request.
const serverWords = "the server's words"

// at lets time pass until the time in the text.
func (m *machine) at(text string) {
	t, err := notation.Moment(text, m.now)
	m.must(err)
	if t < m.now {
		m.t.Fatalf("%s is over at %s", text, m.now.Go())
	}
	m.now = t
	if m.loop != nil {
		m.turn()
	}
}

// cron returns the world's state of a CronJob, or nil.
func (m *machine) cron(name string) *projector.CronJob {
	return m.loop.World().CronJob(events.CronJobStream(m.crons[name].Job.UID))
}

// cronJob observes a CronJob. A field that the line does not give keeps its value. The status is the published one.
func (m *machine) cronJob(name string, args map[string]string) {
	m.version++
	m.observe(m.cronVersion(name, args))
}

// cronVersion makes the next version of a CronJob, as the API server has it.
func (m *machine) cronVersion(name string, args map[string]string) *events.Observation {
	o := m.cronObject(name)
	if o.Facts == nil {
		facts := notation.NewCronJob(m.now)
		o.Facts = &facts
	}
	next, seen := *o, *o.Facts.(*events.CronJobSeen)
	if c := m.cron(name); c != nil && c.Known() {
		seen.Active, seen.LastSchedule, seen.LastSuccess = slices.Clone(c.Seen.Active), c.Seen.LastSchedule, c.Seen.LastSuccess
		if _, ok := args["written"]; ok { // as the write in flight makes it
			seen.Active, seen.LastSchedule, seen.LastSuccess = slices.Clone(c.Active), c.LastSchedule, c.LastSuccess
		}
	}
	delete(args, "written")
	seen.Version = m.version
	rules := "" // the zone with the rules that the database has for each zone
	for key, value := range args {
		switch key {
		case "stale":
			seen.Version = 1
		case "rules":
			rules = value
		case "trigger": // the time at which it was asked for
			asked, err := notation.Time(value, m.now)
			m.must(err)
			request := trigger.Request{At: asked.Go(), ID: "1", By: "alice"}
			seen.Trigger = &events.RunTrigger{Value: request.String(), Asked: asked, By: "alice by kubectl"}
		default:
			ok, err := notation.CronJob(&seen, key+"="+value, m.now)
			if m.must(err); !ok {
				m.t.Fatalf("no such property of a CronJob: %s", key)
			}
		}
	}
	next.Facts = &seen
	if zone := args["zone"]; zone != "" || args["schedule"] != "" || rules != "" {
		next.Zones, seen.Zones = nil, nil
		for _, named := range schedule.Named(seen.Schedule, seen.TimeZone) {
			if z, ok := zones.Find(cmpOr(rules, named)); ok && rules != "none" {
				next.Zones = append(next.Zones, events.ZoneRules{Name: named, Hash: z.Hash, TZif: z.TZif})
				seen.Zones = append(seen.Zones, events.ZoneName{Name: named, Hash: z.Hash})
			}
		}
	}
	m.crons[name] = &next
	return &next
}

// cronObject returns a CronJob that exists. It has no facts until it is observed: a Job may name it before.
func (m *machine) cronObject(name string) *events.Observation {
	o := m.crons[name]
	if o == nil || m.over[name] {
		m.over[name] = false
		m.lives[name]++
		o = &events.Observation{
			Job:      events.JobRef{Namespace: "ns", Name: name, UID: types.UID("uid-" + name + strings.Repeat("'", m.lives[name]-1))},
			Evidence: events.Evidence{Namespace: "ns", Name: name},
		}
		m.crons[name] = o
	}
	return o
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// run observes a Job of a CronJob that another controller runs. No Job of our own comes with it. The argument of=demo
// names its CronJob; without it, the Job's name does.
func (m *machine) run(name string, args map[string]string) {
	m.version++
	if args["of"] == "none" {
		o := *m.runs[name]
		o.Facts = &events.RunGone{Job: o.Facts.(*events.RunSeen).Job, Version: m.version, Left: true}
		delete(m.runs, name)
		m.observe(&o)
		return
	}
	m.observe(m.runVersion(name, args))
}

func (m *machine) runVersion(name string, args map[string]string) *events.Observation {
	o := m.runs[name]
	if o == nil || m.over[name] {
		m.over[name] = false
		m.lives[name]++
		o = m.newRun(name, args["of"])
	}
	next, seen := *o, *o.Facts.(*events.RunSeen)
	seen.Version = m.version
	if of := args["of"]; of != "" {
		next.CronJob = m.cronObject(of).Job.UID
	}
	if namespace := args["in"]; namespace != "" {
		next.Job.Namespace, next.Evidence.Namespace = namespace, namespace
	}
	for key, value := range args {
		word := key
		if value != "" {
			word += "=" + value
		}
		if key == "of" || key == "in" {
			continue
		}
		ok, err := notation.Run(&seen, word, m.now)
		if m.must(err); !ok {
			m.t.Fatalf("no such property of a run: %s", key)
		}
	}
	next.Facts = &seen
	m.runs[name] = &next
	return &next
}

// newRun returns a Job as its CronJob's create makes it now.
func (m *machine) newRun(name, of string) *events.Observation {
	if i := strings.LastIndex(name, "-"); of == "" && i > 0 {
		of = name[:i]
	}
	owner := m.crons[of]
	if owner == nil {
		owner = m.cronObject(of)
	}
	uid := types.UID("uid-" + name + strings.Repeat("'", m.lives[name]-1))
	seen := &events.RunSeen{Job: uid, Name: name, Version: m.version, Created: m.now.Second()}
	var minutes int64
	if _, err := fmt.Sscanf(strings.TrimPrefix(name, of+"-"), "%d", &minutes); err == nil {
		seen.Due = events.At(time.Unix(60*minutes, 0))
	}
	return &events.Observation{
		Job: events.JobRef{Namespace: "ns", Name: name, UID: uid}, CronJob: owner.Job.UID, Facts: seen,
		Evidence: events.Evidence{Namespace: "ns", Name: name},
	}
}

// asRun adds to an observation of a Job the facts for its CronJob.
func (m *machine) asRun(o *events.Observation, seen *events.JobSeen, of string) {
	if of == "none" {
		o.CronJob, o.Run = "", nil
		return
	}
	run := m.newRun(o.Job.Name, of)
	o.CronJob = run.CronJob
	facts := run.Facts.(*events.RunSeen)
	facts.Job, facts.Version, facts.Created = o.Job.UID, seen.Version, seen.Created
	facts.Started, facts.Completed = seen.Status.StartTime, seen.Status.CompletionTime
	for _, c := range seen.Status.Conditions {
		if c.Status != "True" {
			continue
		}
		switch c.Type {
		case "Complete":
			facts.Result, facts.Succeeded = events.ResultComplete, true
		case "Failed":
			facts.Result = events.ResultFailed
		}
	}
	o.Run = facts
}

// cronGone reports the end of a CronJob, or of a Job of a CronJob that another controller runs. It returns false if
// there is none of that name.
func (m *machine) cronGone(name string) (ok bool) {
	if o := m.runs[name]; o != nil {
		m.over[name] = true
		next := *o
		next.Facts = &events.RunGone{Job: o.Job.UID, Version: m.version}
		m.observe(&next)
		return true
	}
	if o := m.crons[name]; o != nil {
		m.over[name] = true
		next := *o
		next.Facts = &events.CronJobGone{Version: m.version}
		m.observe(&next)
		return true
	}
	return false
}

// cronEnded completes the result of a command for a CronJob, as the executor reports it: with the object that was made
// or read. Other arguments of the line change the object that is read.
func (m *machine) cronEnded(result *events.TaskResult, args map[string]string) {
	c := m.commandOf(result)
	task, ended := events.Task{Name: result.Ended.Command, Command: c}, &result.Ended
	about := task.Ended(ended.Ending)
	ended.Type, ended.Run, ended.Due, ended.Replacing = about.Type, about.Run, about.Due, about.Replacing
	if ended.Ending == events.Refused || ended.Ending == events.OutcomeUnknown {
		result.Evidence.Message = serverWords
	}
	name := events.RunNameOf(c)
	result.Evidence.Name = name
	owner := m.nameOf(result.Stream)
	switch c.(type) {
	case *events.CreateJob:
		before := m.runs[name]
		another := before != nil && m.over[name] && before.CronJob != m.crons[owner].Job.UID // had the name, and is gone
		if ended.Ending == events.Done && (before == nil || another) && m.jobs[name] == nil {
			m.over[name] = false
			m.lives[name]++
			m.runs[name] = m.newRun(name, owner)
		}
	case *events.ReadCronJob, *events.WriteCronStatus:
		result.Evidence.Name = owner
	}
	if ended.Ending != events.Done {
		return
	}
	switch c := c.(type) {
	case *events.CreateJob:
		made := m.runs[name]
		if ours := m.jobs[name]; ours != nil {
			made = ours
		}
		ended.UID = made.Job.UID
		result.Observations = []events.Observation{*made}
	case *events.DeleteRun:
		ended.UID, ended.Version = c.Job, 0
	case *events.WriteCronStatus:
		ended.UID = m.crons[owner].Job.UID
	case *events.ReadCronJob:
		if ended.UID == "" {
			o := m.cronVersion(owner, args)
			ended.UID = o.Job.UID
			result.Observations = []events.Observation{*o}
		}
	case *events.ReadRun:
		if ended.UID == "" {
			o := m.runs[name] // as it was read before its end
			if !m.over[name] {
				o = m.runVersion(name, args)
			}
			ended.UID = o.Job.UID
			result.Observations = []events.Observation{*o}
		}
	}
}

// commandOf returns the command of a result.
func (m *machine) commandOf(result *events.TaskResult) events.Command {
	for rec, err := range m.log.Read(m.t.Context(), result.Ended.Command.Decided) {
		m.must(err)
		d, ok := rec.Facts.(*events.Decision)
		if !ok {
			break
		}
		for place, c := range d.Commands() {
			if place == int(result.Ended.Command.Place) {
				return c
			}
		}
		break
	}
	m.t.Fatalf("there is no command %v", result.Ended.Command)
	return nil
}

// nameOf returns the name of a CronJob.
func (m *machine) nameOf(s events.Stream) string {
	return strings.TrimRight(strings.TrimPrefix(s.ID, "uid-"), "'")
}

// clockText writes a time of the day, with its date unless that is today.
func (m *machine) clockText(t events.Time) string {
	layout := "2006-01-02 15:04:05"
	if t.Go().Format(time.DateOnly) == m.now.Go().Format(time.DateOnly) {
		layout = "15:04:05"
	}
	if t%events.Time(time.Second) != 0 {
		layout += ".000"
	}
	return t.Go().Format(layout)
}

// showCron writes the facts of a record of a CronJob's stream.
func (m *machine) showCron(b *strings.Builder, rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.CronJobSeen:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
	case *events.CronJobGone:
		fmt.Fprintf(b, " %s", rec.Evidence.Name)
		if f.Missed {
			b.WriteString(" missed")
		}
	case *events.ZoneRules:
		fmt.Fprintf(b, " %s", f.Name)
	case *events.RunSeen:
		fmt.Fprintf(b, " %s", f.Name)
		if f.Result != events.ResultNone {
			fmt.Fprintf(b, " %s", f.Result)
		}
		if f.Deleted != 0 {
			b.WriteString(" deleting")
		}
	case *events.RunGone:
		fmt.Fprintf(b, " %s", f.Job)
		if f.Missed {
			b.WriteString(" missed")
		}
		if f.Left {
			b.WriteString(" left")
		}
	}
}

// showTold writes the Kubernetes Events that a record of a CronJob's stream leads to.
func (m *machine) showTold(b *strings.Builder, rec *events.Record) {
	if rec.Stream.Kind != events.StreamCronJob {
		return
	}
	for _, e := range kube.Of(rec, kube.Context{Job: events.JobRef{Namespace: "ns", Name: m.nameOf(rec.Stream), UID: types.UID(rec.Stream.ID)}}) {
		fmt.Fprintf(b, "\n      Event: %s %s %s", e.Type, e.Reason, e.Message)
	}
}

// showStep writes what a step of a CronJob's decision has besides commands.
func (m *machine) showStep(b *strings.Builder, said *events.CronStep) {
	if said == nil {
		return
	}
	for _, t := range said.Ticks {
		fmt.Fprintf(b, "\n      due %s", m.clockText(t.First))
		if t.Last != t.First {
			fmt.Fprintf(b, " to %s", m.clockText(t.Last))
		}
		fmt.Fprintf(b, ": %s", fates[t.Fate])
		if t.Into != 0 {
			fmt.Fprintf(b, " %s", m.clockText(t.Into))
		}
		if t.Name != "" {
			fmt.Fprintf(b, " as %s", t.Name)
		}
		if t.Late != 0 {
			fmt.Fprintf(b, ", %s late", t.Late)
		}
		if t.By != "" {
			fmt.Fprintf(b, ", by %s", t.By)
		}
		if t.UnwatchedUntil != 0 {
			fmt.Fprintf(b, ": nobody watched from %s to %s", m.clockText(t.UnwatchedFrom), m.clockText(t.UnwatchedUntil))
		}
		if t.Observed {
			b.WriteString(", observed")
		}
		if t.Seen != 0 {
			fmt.Fprintf(b, " %s after it was due", t.Seen)
		}
	}
	if l := said.Ledger; l != nil && l.Open != 0 {
		fmt.Fprintf(b, "\n      open is %s%s", m.clockText(l.Open), holds[l.Hold])
	}
	for _, uid := range said.Left {
		fmt.Fprintf(b, "\n      active no longer: %s", uid)
	}
}

var fates = map[events.TickFate]string{
	events.TickStarted: "started", events.TickMerged: "merged into", events.TickTooLate: "too late", events.TickRefused: "refused",
	events.TickLost: "lost", events.TickUnwatched: "nobody watched", events.TickDeleted: "deleted", events.TickReplaced: "replaced",
	events.TickAgain: "started again", events.TickManual: "made by hand", events.TickTriggered: "asked for",
	events.TickSkipped: "not started", events.TickUnknown: "unknown",
}

var holds = map[events.TickHold]string{
	events.HeldForbid: ", forbidden", events.HeldSuspended: ", suspended", events.HeldBadZone: ", without a zone", events.HeldNoCreate: ", not created",
}

// cronState prints the projection of a CronJob.
func (m *machine) cronState(name string) string {
	c := m.cron(name)
	if c == nil {
		return "nothing\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "published: %s\n", m.statusText(c.Seen.Active, c.Seen.LastSchedule, c.Seen.LastSuccess))
	if c.Behind() {
		fmt.Fprintf(&b, "to be:     %s\n", m.statusText(c.Active, c.LastSchedule, c.LastSuccess))
	}
	for _, r := range c.SortedRuns() {
		fmt.Fprintf(&b, "has %s\n", r.Name)
	}
	return b.String()
}

func (m *machine) statusText(active []events.RunName, lastSchedule, lastSuccess events.Time) string {
	text := "active"
	for _, a := range active {
		text += " " + a.Name
	}
	if len(active) == 0 {
		text += " none"
	}
	if lastSchedule != 0 {
		text += ", scheduled " + m.clockText(lastSchedule)
	}
	if lastSuccess != 0 {
		text += ", succeeded " + m.clockText(lastSuccess)
	}
	return text
}
