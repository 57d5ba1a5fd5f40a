package show

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/plan"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// shown is a value that a page writes, all of whose fields are set, in each of some states.
type shown struct {
	name  string
	value any
	write func(p *Page) error
}

// inStates makes the value as it is in each state, written by the same page.
func inStates[T any, S ~string](name string, write func(p *Page, v *T) error, set func(v *T, state S), states ...S) (all []shown) {
	for _, state := range append(states, "") {
		v := examples.Filled(new(T))
		set(v, state)
		all = append(all, shown{name, v, func(p *Page) error { return write(p, v) }})
	}
	return all
}

const clock = recordjson.Instant(1_772_452_800_000_000_000) // 2026-03-02 12:00

// answerAs is an answer in a state in which other fields matter than in the next.
func answerAs(a *explain.Answer, state string) {
	a.Created, a.AsOf.Time, a.LastRecord, a.Kind = clock, clock+60_000_000_000, clock+30_000_000_000, "job"
	if a.State = state; state == "finished" {
		a.Finished = clock + 1_000_000_000
		return
	}
	a.Finished, a.Deleted, a.Damaged = 0, nil, 0
	switch state {
	case "now":
		a.Clock = history.ClockController
	case "by the log":
		a.Clock = history.ClockLog
	case "unrecorded":
		a.PassedOver = nil
	case "gap":
		a.Gaps = a.Gaps[:1]
	case "truncated":
		a.Gaps = nil
	case "whole":
		a.Gaps, a.Truncated, a.PassedOver, a.Unrecorded = nil, false, nil, 0
	}
}

// tickAs is what became of a due time.
func tickAs(x *history.Tick, state string) {
	x.First, x.Last, x.Late, x.Seen = clock, clock, "1s", "2s"
	if state == "range" {
		x.Last = clock + 200*24*3600*1_000_000_000
	}
	x.Fate = state
	switch state {
	case events.TickStarted.String():
		x.UnwatchedUntil, x.Into = 0, 0
	case events.TickSkipped.String():
		x.UnwatchedUntil = 0
	case "by hand":
		x.UnwatchedUntil, x.Job = 0, ""
	}
}

// itemsOf changes the rows of lists of failures: what counts them stays.
func itemsOf(all []shown) []shown {
	for i := range all {
		all[i].value = &all[i].value.(*failures.Failures).Items
	}
	return all
}

// timeline is one of a minute: its times bound what is drawn, and stay.
func timeline() []shown {
	t := examples.Filled(&attempts.Timeline{})
	t.From, t.To = clock, clock+60_000_000_000
	for i := range t.Rows {
		for k := range t.Rows[i].Spans {
			s := &t.Rows[i].Spans[k]
			s.What, s.From, s.To = marksOf[k].what, clock, clock+recordjson.Instant(k+1)*20_000_000_000
		}
		for k := range t.Rows[i].Ends {
			t.Rows[i].Ends[k].At = clock + recordjson.Instant(k+1)*25_000_000_000
		}
	}
	for k := range t.Watch {
		t.Watch[k].From, t.Watch[k].To = clock, clock+recordjson.Instant(k+1)*10_000_000_000
	}
	write := func(p *Page) error { return p.Timeline(t) }
	return []shown{
		{"lanes", &t.Rows, write}, {"unwatched", &t.Watch, write}, {"passed over in time", &t.Passed, write}, {"left out of a timeline", &t.More, write},
		{"truncated timeline", &t.Truncated, write}, {"unrecorded in a timeline", &t.Unrecorded, write},
	}
}

// allShown are the values of all pages.
func allShown() []shown {
	jobStates := []history.State{
		history.StateComplete, history.StateFailed, history.StateDeleted, history.StateRunning, history.StateWaiting, history.StateFinished,
		history.StateUnseen, history.StateUnmanaged,
	}
	cronStates := []history.CronState{history.CronWaiting, history.CronRunning, history.CronOverdue, history.CronSuspended}
	return slices.Concat(
		inStates("job", func(p *Page, j *history.Job) error { return p.Job(j) }, func(j *history.Job, s history.State) { j.State = s }, jobStates...),
		inStates("jobs", func(p *Page, j *history.Summary) error {
			t := p.JobsWhy()
			t.Row(j)
			return t.Flush()
		}, func(j *history.Summary, s history.State) { j.State = s }, jobStates...),
		inStates("cronjob", func(p *Page, j *history.CronJob) error { return p.CronJob(j) },
			func(j *history.CronJob, s history.CronState) { j.State = s }, cronStates...),
		inStates("cronjobs", func(p *Page, j *history.CronSummary) error {
			t := p.CronJobs()
			t.Row(j)
			return t.Flush()
		}, func(j *history.CronSummary, s history.CronState) { j.State = s }, cronStates...),
		inStates("answer", func(p *Page, a *explain.Answer) error { return p.Answer(a, false) }, answerAs,
			"finished", "now", "by the log", "unrecorded", "gap", "truncated", "whole", "Failed"),
		inStates("whole answer", func(p *Page, a *explain.Answer) error { return p.Answer(a, true) },
			func(a *explain.Answer, s string) { a.Kind, a.Clock = "cronjob", s }, history.ClockController, history.ClockLog),
		inStates("markdown", func(p *Page, a *explain.Answer) error {
			_, err := p.Out.Write([]byte(Markdown(a, p.Zone)))
			return err
		}, func(a *explain.Answer, s string) { a.State = s }, "Failed"),
		inStates("attempts", func(p *Page, a *attempts.Attempt) error { return p.Attempts([]attempts.Attempt{*a}, "sum") },
			func(a *attempts.Attempt, s string) { a.Created, a.Counted = clock, try.Counted(s) }, "failure", "success"),
		itemsOf(inStates("failures", func(p *Page, f *failures.Failures) error { return p.Failures(f) },
			func(f *failures.Failures, s string) {
				f.Items[0].Sort, f.Items[1].Sort, f.Causes = s, s, nil
			}, failures.SortStuck, failures.SortFailed)),
		timeline(),
		inStates("plan", func(p *Page, x *plan.Plan) error { return p.Plan(x) }, func(*plan.Plan, string) {}, ""),
		inStates("due time", func(p *Page, x *history.Tick) error {
			for _, c := range p.TickCells(x) {
				if _, err := p.Out.Write([]byte(c.Text + "\n")); err != nil {
					return err
				}
			}
			return nil
		}, tickAs, events.TickStarted.String(), events.TickMerged.String(), events.TickSkipped.String(), events.TickUnknown.String(), "by hand", "range"),
		inStates("open due time", func(p *Page, x *history.OpenDue) error {
			for _, c := range p.OpenCells(x) {
				if _, err := p.Out.Write([]byte(c.Text + "\n")); err != nil {
					return err
				}
			}
			return nil
		}, func(*history.OpenDue, string) {}, ""),
		inStates("passed over", func(p *Page, x *history.Passed) error {
			_, err := p.Out.Write([]byte(Passed(x, p.Zone) + Late(x, p.Zone)))
			return err
		}, func(*history.Passed, string) {}, ""),
		inStates("gap", func(p *Page, x *history.Gap) error {
			_, err := p.Out.Write([]byte(NotWatched(x, p.Zone)))
			return err
		}, func(x *history.Gap, s string) { x.Reason = s }, "start", "gap"),
	)
}

// told are the fields of each value on which what its page says depends, where all others are set.
var told = map[string]string{
	"answer": "" +
		"AsOf.Time Begun Clock Created Damaged Deleted Deleted.Text Finished Gaps Kind LastRecord Lives Lives.At " +
		"Lives.Older Lives.State Lives.This Name Namespace PassedOver Resumed Schedule Sections " +
		"Sections.Head Sections.Sentences Sections.Sentences.Detail Sections.Sentences.Records " +
		"State Truncated UID Unrecorded Verdict.Text Verdict.Whole",
	"attempts": "" +
		"Counted EndedBy Exits Exits.Code Exits.Container Exits.Reason How Index Next Node Pod Started Try UID " +
		"Unseen",
	"cronjob": "" +
		"Active AsOf.Sequence AsOf.Time Due Due.At Due.Hold Due.Record Due.Says Due.Since First Gap Gap.From Gap.Until " +
		"Gone InFlight InFlight.Does InFlight.Doubt InFlight.Since Last LastDecision LastDecision.Sequence " +
		"LastDecision.Steps LastDecision.Steps.Commands LastDecision.Steps.Reason LastDecision.Steps.Sentence " +
		"LastDecision.Time LastDue LastDue.By LastDue.Job LastDue.Last LastDue.Record LastDue.UnwatchedFrom " +
		"LastDue.UnwatchedUntil LastDue.Why Managed Name Namespace Next Notes PassedOver PassedOver.From " +
		"PassedOver.Namespace Published.LastSuccess Reason Runs Runs.By Runs.Finished Runs.Made " +
		"Runs.Name Runs.Started Runs.State Runs.UID Spec.Deadline Spec.KeepFailed Spec.KeepSucceeded Spec.Policy " +
		"Spec.Schedule Spec.Suspend Spec.TimeZone State Trouble Trouble.Says Trouble.Sequence UID Waits Waits.For " +
		"Waits.Until",
	"cronjobs": "" +
		"Active Due Due.At Due.Hold Due.Says LastRun LastSuccess Managed Name Namespace Next Reason Schedule State " +
		"TimeZone UID",
	"due time": "By Count Fate First Into Job Last Late Record Says Seen UnwatchedFrom UnwatchedUntil Why",
	"failures": "Lineage Name Namespace Since Sort Tries UID Why itself",
	"gap":      "From Until",
	"job": "" +
		"AsOf.Sequence AsOf.Time Counts.Active Counts.Completions Counts.Creating Counts.Failed Counts.Ready " +
		"Counts.Succeeded Counts.Terminating Finished First Gap Gap.From Gap.Until Gone InFlight InFlight.Does " +
		"InFlight.Doubt InFlight.Since Last LastDecision LastDecision.Sequence LastDecision.Steps " +
		"LastDecision.Steps.Commands LastDecision.Steps.Reason LastDecision.Steps.Sentence LastDecision.Time " +
		"Managed Message Name Namespace Notes Origin Origin.Kind Origin.Name PassedOver PassedOver.From " +
		"PassedOver.Namespace Pods Pods.Account Pods.Containers Pods.Containers.ExitCode Pods.Containers.Name " +
		"Pods.Containers.Reason Pods.Finished Pods.Gone Pods.Index Pods.Name Pods.Node Pods.Phase Pods.Reason " +
		"Pods.Restarts Reason Records Refused Refused.Class Refused.Does Refused.Next Refused.Record Refused.Says " +
		"Refused.Since Refused.Tries Started State Trouble Trouble.Says Trouble.Sequence UID Waits Waits.For " +
		"Waits.Until",
	"jobs":                   "Finished Name Namespace Records Started State UID Why Why.Text Why.Whole",
	"lanes":                  "Ends Ends.At Ends.Succeeded Name Spans Spans.To Spans.What itself",
	"left out of a timeline": "itself",
	"markdown": "" +
		"Created Damaged Deleted Deleted.Text Finished Lives Lives.At Lives.Older Lives.State Lives.This Name " +
		"PassedOver Resumed Schedule Sections.Sentences.Detail UID Verdict.Records Verdict.Text",
	"open due time":       "At First Record Says",
	"passed over":         "From Namespace Uncounted Until Versions Went Went.Objects Went.Resource",
	"passed over in time": "From Namespace Uncounted Until Versions Went Went.Objects Went.Resource itself",
	"plan": "" +
		"Differ Jobs Owners Owners.Differences Owners.Differences.Jobs Owners.Differences.Reason " +
		"Owners.Differences.Record Owners.Jobs Owners.Kind Owners.Name Owners.Namespace Owners.PodsMissing " +
		"Owners.PodsMissing.Jobs Owners.PodsMissing.Reason Owners.PodsMissing.Record Owners.RunBy Owners.Step " +
		"PodsMissing Unfinished",
	"truncated timeline":       "itself",
	"unrecorded in a timeline": "itself",
	"unwatched":                "",
	"whole answer": "" +
		"Created Damaged Deleted Deleted.Text Finished Kind Lives Lives.At Lives.Older Lives.State Lives.This " +
		"Name Namespace PassedOver Resumed Schedule Sections Sections.Head Sections.Sentences " +
		"Sections.Sentences.Records Sections.Sentences.Whole UID Verdict.Text Verdict.Whole",
}

// TestWhichFieldsAreShown changes each field of the values that pages show, all of whose others are set, in each of
// some states. The page is another one if the field is one of those that are shown, and else stays: nothing is shown
// for the lack of something else.
func TestWhichFieldsAreShown(t *testing.T) {
	got := map[string]map[string]bool{}
	for _, x := range allShown() {
		if got[x.name] == nil {
			got[x.name] = map[string]bool{}
		}
		for _, p := range []Page{{}, {Wide: true, Colour: true, Width: 100}, {Whole: true}} {
			for _, field := range examples.DependsOn(x.value, func() string { return textOf(t, &p, x.write) }) {
				got[x.name][cmp.Or(field, "itself")] = true
			}
		}
	}
	for name, fields := range got {
		if text := strings.Join(slices.Sorted(maps.Keys(fields)), " "); text != told[name] {
			t.Errorf("%s: it depends on\n%s\nwant\n%s", name, text, told[name])
		}
	}
}

func textOf(t *testing.T, p *Page, write func(p *Page) error) string {
	t.Helper()
	var b bytes.Buffer
	p.Out = &b
	if err := write(p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// full takes so many writes, and no more.
type full struct{ left int }

var errFull = errors.New("no space is left")

func (f *full) Write(b []byte) (int, error) {
	if f.left == 0 {
		return 0, errFull
	}
	f.left--
	return len(b), nil
}

// TestAPageThatCannotBeWrittenIsTold: whichever of its writes fails.
func TestAPageThatCannotBeWrittenIsTold(t *testing.T) {
	for _, x := range allShown() {
		for left := 0; ; left++ {
			out := &full{left: left}
			err := x.write(&Page{Out: out, Wide: true})
			if out.left > 0 {
				break // it took fewer
			}
			if err == nil {
				whole := &full{left: left + 1}
				if _ = x.write(&Page{Out: whole, Wide: true}); whole.left == 1 {
					break // so many are all
				}
			}
			if !errors.Is(err, errFull) {
				t.Errorf("%s: write %d fails, and the error is %v", x.name, left+1, err)
			}
		}
	}
}
