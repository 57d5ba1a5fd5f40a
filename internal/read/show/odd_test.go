package show

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/plan"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

const (
	aSecond = recordjson.Instant(time.Second)
	aDay    = 24 * 3600 * aSecond
)

// nOf are n things.
func nOf[T any](n int, one func(i int) T) (all []T) {
	for i := range n {
		all = append(all, one(i))
	}
	return all
}

// sections are n sentences under each head.
func sections(n int, heads ...string) (all []explain.Section) {
	for _, head := range heads {
		all = append(all, explain.Section{Head: head, Sentences: nOf(n, func(i int) explain.Sentence {
			return explain.Sentence{Text: fmt.Sprintf("%s, sentence %d", strings.ToLower(head), i+1), Records: []uint64{uint64(i + 1)}}
		})})
	}
	return all
}

// odd are pages of what has few or no fields, or at the edge of what is shown.
var odd = []struct {
	name  string
	write func(p *Page) error
}{
	{"a Job without anything", func(p *Page) error { return p.Job(&history.Job{}) }},
	{"Jobs with so many of all", func(p *Page) error {
		for _, n := range []int{1, maxRefused, maxRefused + 1, maxPods, maxPods + 1} {
			j := history.Job{
				Namespace: "ns", Name: "j", State: history.StateRunning, Managed: true, First: 1, Started: clock,
				Refused: nOf(n, func(i int) history.Refusal {
					return history.Refusal{Does: fmt.Sprintf("create pod #%d", i), Since: clock, Tries: uint32(i + 1), Record: uint64(i + 10)}
				}),
				Trouble: []history.Failure{{Sequence: 10, Says: "it is told above"}, {Sequence: 5, Says: "first"}, {Sequence: 6, Says: "second"}},
				Waits:   nOf(n, func(i int) history.Wait { return history.Wait{For: fmt.Sprintf("wait %d", i), Until: clock} }),
				Pods: nOf(n, func(i int) history.Pod {
					return history.Pod{Name: fmt.Sprintf("pod-%d", i), Phase: []string{"Failed", "Running", "Pending"}[i%3], Node: "n", Finished: clock + recordjson.Instant(i)*aDay/8}
				}),
				LastDecision: &history.Decision{Sequence: 3, Time: clock, Steps: []history.Step{
					{Reason: "None"}, {Reason: "Some", Sentence: "a sentence", Commands: nOf(n, func(i int) string { return fmt.Sprintf("command %d", i) })},
				}},
			}
			if err := p.Job(&j); err != nil {
				return err
			}
		}
		return nil
	}},
	{"states of Jobs", func(p *Page) error {
		for _, state := range history.States {
			for _, j := range []history.Job{
				{State: state}, {State: state, Managed: true, Gone: true, Started: clock + aSecond/2, Finished: clock}, {State: state, Managed: true, Deleted: clock},
				{State: state, Managed: true, Listing: true, Reason: "Reason", Message: "Message", Started: clock, Finished: clock + 90*aSecond},
				{State: state, Managed: true, Listing: true, Retired: 7, Message: "Message", Started: clock},
			} {
				if err := p.Job(&j); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"pods", func(p *Page) error {
		index := int32(0)
		return p.Job(&history.Job{Started: clock, Pods: []history.Pod{
			{UID: "uid-1"}, {Name: "a", Phase: "Pending", Waiting: "Unschedulable", Index: &index, Finished: clock + aDay}, {Name: "b", Phase: "Pending", Waiting: "ImagePullBackOff", Gone: true},
			{Name: "c", Phase: "Running", Deleted: clock, Restarts: 1}, {Name: "d", Phase: "Failed", Deleted: clock, Gone: true, Account: "counted"},
			{Name: "e", Phase: "Succeeded", Containers: []history.ContainerEnd{{Name: "main", Reason: "Completed"}, {Name: "side", Reason: "Unusual"}, {Name: "x", ExitCode: 1}}, Reason: "Evicted"},
		}})
	}},
	{"gaps", func(p *Page) error {
		for _, g := range []history.Gap{{}, {From: clock}, {Until: clock + aSecond}, {From: clock, Until: clock + aSecond}} {
			if err := p.Job(&history.Job{Gap: &g}); err != nil {
				return err
			}
			if err := p.CronJob(&history.CronJob{Gap: &g}); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(p.Out, NotWatched(&g, p.Zone), gapText(&g, p.Zone)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"a list of Jobs", func(p *Page) error {
		table := p.Jobs()
		for i, state := range history.States {
			table.Row(&history.Summary{
				Namespace: "ns", Name: string(state), State: state, Gone: i%2 == 0, Reason: strings.Repeat("Reason", i%2), Counts: history.Counts{Completions: int32(i % 3), Succeeded: 1},
				Started: clock * recordjson.Instant(i%4), Finished: clock * recordjson.Instant(i%5), UID: "u", Records: 3,
			})
		}
		table.Row(&history.Summary{})
		return table.Flush()
	}},
	{"a list of why", func(p *Page) error {
		table := p.JobsWhy()
		for _, state := range history.States {
			table.Row(&history.Summary{Namespace: "ns", Name: string(state), State: state, Why: &history.Why{Text: "why " + string(state)}})
		}
		table.Row(&history.Summary{})
		return table.Flush()
	}},
	{"CronJobs", func(p *Page) error {
		zone, empty, n := "Europe/Berlin", "", int64(5)
		none, two := int32(0), int32(2)
		for _, state := range history.CronStates {
			for _, j := range []history.CronJob{
				{State: state}, {State: state, Managed: true, Listing: true, Reason: "held back: why", First: 3, Last: 9, Published: history.CronStatus{Active: make([]history.RunName, 1)}},
				{State: state, Managed: true, Next: clock, Spec: history.CronSpec{Schedule: "* * * * *", TimeZone: &zone, Policy: "Forbid", Deadline: &n, Suspend: true}},
				{State: state, Spec: history.CronSpec{KeepSucceeded: &none}, Due: &history.OpenDue{At: clock, Says: "about to start"}},
				{State: state, Spec: history.CronSpec{KeepFailed: &two}, Due: &history.OpenDue{At: clock, Hold: "Forbid", Says: "held back: a Job runs"}},
				{State: state, Spec: history.CronSpec{KeepFailed: &two, KeepSucceeded: &two, TimeZone: &empty}, Due: &history.OpenDue{At: clock, Hold: "Forbid", Since: clock, Says: "held back: a Job runs", Record: 4}},
			} {
				if err := p.CronJob(&j); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"runs", func(p *Page) error {
		for _, n := range []int{1, maxRuns, maxRuns + 1, maxRuns + 2} {
			j := history.CronJob{State: history.CronRunning, Runs: nOf(n, func(i int) history.Run {
				r := history.Run{Name: fmt.Sprintf("run-%d", i), UID: "u", State: []history.State{history.StateRunning, history.StateFailed}[i%2], Started: clock}
				switch i % 5 {
				case 1:
					r.Due, r.Finished = clock, clock+aSecond
				case 2:
					r.Made, r.By = events.TickManual.String(), "anna by kubectl"
				case 3:
					r.Made, r.Due = events.TickManual.String(), clock
				case 4:
					r.Made, r.By = events.TickTriggered.String(), "anna"
				}
				return r
			})}
			if err := p.CronJob(&j); err != nil {
				return err
			}
		}
		return nil
	}},
	{"a list of CronJobs", func(p *Page) error {
		zone, empty := "Europe/Berlin", ""
		table := p.CronJobs()
		tick := &history.Tick{First: clock, Last: clock, Fate: events.TickStarted.String(), Says: "started", Late: "1.5s"}
		for i, state := range history.CronStates {
			s := history.CronSummary{Namespace: "ns", Name: string(state), State: state, Managed: i%2 == 0, Reason: strings.Repeat("why", i%2), Next: clock * recordjson.Instant(i%2), Schedule: "* * * * *"}
			for k := range 4 {
				s.TimeZone = []*string{nil, &zone, &empty, nil}[k]
				s.LastDue = []*history.Tick{nil, tick, tick, tick}[k]
				s.Due = []*history.OpenDue{nil, nil, {At: clock, Says: "not yet"}, {At: clock + aSecond, Hold: "Forbid", Says: "held back: x"}}[k]
				table.Row(&s)
			}
		}
		table.Row(&history.CronSummary{})
		return table.Flush()
	}},
	{"due times", func(p *Page) error {
		for _, fate := range []string{events.TickStarted.String(), events.TickMerged.String(), events.TickSkipped.String(), events.TickUnknown.String()} {
			for _, t := range []history.Tick{
				{}, {Into: clock}, {UnwatchedUntil: clock}, {UnwatchedFrom: clock, UnwatchedUntil: clock + aSecond}, {By: "anna"}, {By: "anna", Job: "j"}, {Late: "1s", Seen: "2s"},
				{Last: clock + aDay}, {Last: clock + 300*aDay + 7*aSecond}, {Last: clock + 60*aSecond, Count: 2, Record: 7}, {First: clock + aSecond, Last: clock + aSecond},
				{First: clock - 365*aDay, Last: clock},
			} {
				if t.First == 0 {
					t.First = clock
				}
				if t.Last == 0 {
					t.Last = t.First
				}
				t.Fate, t.Says = fate, "says"
				for i, c := range p.TickCells(&t) {
					fmt.Fprintf(p.Out, "%s%s", strings.Repeat(" | ", min(i, 1)), c.Text)
				}
				fmt.Fprintln(p.Out)
			}
		}
		for _, d := range []history.OpenDue{{At: clock}, {At: clock, First: clock - aDay, Record: 3, Says: "says"}} {
			fmt.Fprintln(p.Out, p.OpenCells(&d))
		}
		return nil
	}},
	{"due times in another zone", func(p *Page) error {
		for _, zone := range []*time.Location{nil, time.FixedZone("A", 3600), time.FixedZone("B", 13*3600)} {
			for _, t := range []recordjson.Instant{0, clock, clock + 7*aSecond} {
				fmt.Fprintln(p.Out, p.dueIn(events.Time(t), zone), "/", p.day(events.Time(t)))
			}
		}
		return nil
	}},
	{"attempts", func(p *Page) error {
		one := int32(1)
		rows := []attempts.Attempt{
			{Try: 1}, {Try: 2, Pod: "p", Node: "n", Started: clock, Ran: "3.2s", RanAtMost: true, Records: map[string]uint64{"a": 7, "b": 3, "c": 9}},
			{Try: 3, Started: clock - aDay, Ran: "3.2s", Next: clock + aDay, Unseen: true, How: "how"}, {Try: 4, How: "Unschedulable: no node", Next: clock},
			{Try: 5, EndedBy: try.ByEviction, Counted: try.CountedFailed, Failure: 2, How: "how", Exits: []attempts.Exit{{Container: "main", Code: 1, Reason: "Error"}, {Container: "b", Code: 2, Reason: "OOMKilled"}}},
		}
		for _, some := range [][]attempts.Attempt{nil, rows, {{Index: &one, Try: 1}, {Try: 2}}} {
			if err := p.Attempts(some, "the sum"); err != nil {
				return err
			}
		}
		return nil
	}},
	{"failures", func(p *Page) error {
		trouble := func(sort string) func(i int) failures.Trouble {
			return func(i int) failures.Trouble {
				return failures.Trouble{
					Sort: sort, Namespace: "ns", Name: fmt.Sprintf("j-%d", i), Since: clock + recordjson.Instant(i)*aDay/2, Why: fmt.Sprintf("why %d", i), Tries: i, Kind: []string{"Job", "CronJob"}[i%2],
					Cause: fmt.Sprintf("cause %d", i/2),
				}
			}
		}
		works := func(n int) []failures.Work {
			return nOf(n, func(i int) failures.Work {
				return failures.Work{Namespace: "ns", Name: fmt.Sprintf("w-%d", i), Kind: strings.Repeat("CronJob", i%2), Jobs: 1 + i%3}
			})
		}
		cause := func(item, jobs, n int) failures.Cause {
			return failures.Cause{Sort: failures.SortFailed, Jobs: jobs, First: clock, Last: clock + recordjson.Instant(item)*aDay, Works: works(n), Item: item}
		}
		for _, f := range []failures.Failures{
			{}, {Looked: 1, CronJobs: 1}, {Looked: 2, CronJobs: 2, More: true},
			{Items: nOf(4, trouble(failures.SortFailed)), Causes: []failures.Cause{cause(0, 1, 1), cause(1, 1, 1)}},
			{
				Items: append(nOf(3, trouble(failures.SortFailed)), nOf(3, trouble(failures.SortSurvived))...),
				Causes: []failures.Cause{
					cause(0, 2, 1), cause(1, 1, 2), cause(2, 40, mostWorks), cause(3, 40, mostWorks+1), cause(4, 40, mostWorks+2), cause(5, 3, 3), cause(-1, 1, 1), cause(6, 1, 1),
				},
			},
			{Items: nOf(2, trouble(failures.SortStuck)), Causes: []failures.Cause{cause(0, 1, 1)}},
			{Gaps: nOf(3, func(i int) history.Gap { return history.Gap{From: clock, Until: clock + recordjson.Instant(i)*aSecond} })},
			{Gaps: nOf(4, func(int) history.Gap { return history.Gap{From: clock, Until: clock + 2*aSecond} })},
			{Gaps: []history.Gap{{From: clock}, {From: clock, Until: clock + aSecond}, {From: clock, Until: clock + aSecond - 1}}},
			{Passed: nOf(3, func(i int) history.Passed {
				return history.Passed{Namespace: strings.Repeat("ci", i), From: clock, Until: clock * recordjson.Instant(i%2)}
			})},
			{Passed: nOf(4, func(i int) history.Passed { return history.Passed{Namespace: "ci", From: clock} })},
		} {
			if err := p.Failures(&f); err != nil {
				return err
			}
		}
		return nil
	}},
	{"plans", func(p *Page) error {
		for _, x := range []plan.Plan{
			{}, {Jobs: 1, Owners: []plan.Owner{{Namespace: "ns", Jobs: 1, RunBy: "kubernetes.io/job-controller", Step: "step"}}, Unfinished: 1},
			{
				Jobs: 3, Differ: 1, PodsMissing: 2, Unfinished: 2, Owners: []plan.Owner{
					{Namespace: "ns", Manager: "kubectl", Jobs: 2, RunBy: events.ManagedBy}, {Namespace: "ns", Manager: "kubectl", Kind: "CronJob", Name: "c", Jobs: 1, RunBy: "another"},
				},
			},
		} {
			if err := p.Plan(&x); err != nil {
				return err
			}
		}
		return nil
	}},
	{"findings", func(p *Page) error {
		p.Finding("ERROR", Trouble, "rights", "a text", "")
		p.Finding("ok", Plain, "watch", longWhy, "do something about it that takes a whole long line to say, so that it is broken")
		return nil
	}},
	{"damage", func(p *Page) error {
		_, err := fmt.Fprintln(p.Out, MarkdownDamage(nil)+MarkdownDamage([]error{errors.New("record 7 of @here is `bad`"), errors.New("x\x1b")}))
		return err
	}},
	{"lives", func(p *Page) error {
		for _, all := range [][]explain.Life{
			{{UID: "12345678-9", State: "Failed", At: clock}, {UID: "1", State: "Complete", At: clock + aSecond, This: true}},
			{{UID: "12345678-9", State: "Failed", At: clock, Older: 3}, {UID: "1", State: "Complete", At: clock + aDay}},
		} {
			if _, err := fmt.Fprintln(p.Out, explain.LivesText(all, p.Zone)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"answers", func(p *Page) error {
		for _, a := range []explain.Answer{
			{}, {Kind: "pod", Name: "p", Verdict: explain.Sentence{Text: "verdict"}, Created: clock, Finished: clock + aDay},
			{Kind: "cronjob", State: string(history.CronOverdue), Namespace: "ns", Name: "c", Created: clock, AsOf: history.Place{Time: clock + aDay}, Clock: history.ClockController, LastRecord: clock + aDay},
			{Kind: "cronjob", State: string(history.CronWaiting), Created: clock, AsOf: history.Place{Time: clock + aSecond}, Clock: history.ClockController, LastRecord: clock - aDay},
			{Kind: "job", State: "Failing", Created: clock, Finished: clock + aSecond, Clock: history.ClockLog}, {Kind: "job", State: "Running", Created: clock, AsOf: history.Place{Time: clock}, Clock: history.ClockLog},
			{Kind: "job", Damaged: 5, Resumed: 9}, {Kind: "job", Damaged: 5, Resumed: 5}, {Kind: "job", Damaged: 5}, {Gaps: make([]history.Gap, 1)}, {Gaps: make([]history.Gap, 2)}, {Truncated: true, Unrecorded: 1},
			{Begun: "x", Unrecorded: 2}, {Unrecorded: 2}, {PassedOver: make([]history.Passed, 1), Unrecorded: 2}, {UID: "12345678-1234"},
			{Kind: "job", State: "Complete", Sections: sections(2, "WHY", "TICK", "TIME", "ALSO")}, {Kind: "job", State: "Complete", Sections: sections(1, "TICK")},
			{Kind: "job", State: "Complete", Sections: sections(2, "WHY", "FIRST")}, {Kind: "pod", State: "Complete", Sections: sections(2, "WHY")},
			{Kind: "job", Lead: "WHY", Sections: sections(1, "WHY", "FIRST")}, {Kind: "job", Lead: "WHY", Sections: sections(1, "FIRST", "WHY")}, {Kind: "job", Lead: "WHY", Sections: sections(1, "WHY")},
			{Kind: "job", Sections: sections(30, "RULED OUT")}, {Kind: "job", Sections: sections(30, "WHY")}, {Kind: "job", Sections: sections(12, "WHY", "RULED OUT", "CLOSE", "TIME")},
			{Kind: "job", Sections: sections(7, "WHY", "FIRST", "PODS", "RULED OUT", "ALSO")}, {Kind: "job", Sections: sections(21, "WHY")}, {Kind: "job", Sections: sections(20, "WHY")}, {Kind: "job", Sections: sections(22, "WHY")},
			{Kind: "job", Sections: append(sections(19, "WHY"), sections(2, "TIME")...)}, {Kind: "job", Sections: append(sections(18, "WHY"), sections(2, "TIME")...)},
		} {
			fmt.Fprintln(p.Out, "-")
			if err := errors.Join(p.Answer(&a, false), p.Answer(&a, true)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"timelines", func(p *Page) error {
		lane := func(name string, spans ...attempts.Span) attempts.Lane {
			return attempts.Lane{Name: name, Spans: spans}
		}
		for _, x := range []attempts.Timeline{
			{}, {Truncated: true, Unrecorded: 1, Passed: []history.Passed{{From: clock}}},
			{From: clock, To: clock + 60*aSecond, Rows: []attempts.Lane{lane("a"), lane(strings.Repeat("long-", 9), attempts.Span{What: "running", From: clock, To: clock + 60*aSecond})}, More: 3},
			{From: clock, To: clock + aSecond, Rows: []attempts.Lane{lane("of before", attempts.Span{What: "running", From: clock - aDay, To: clock - aSecond}), lane("longer", attempts.Span{What: "backoff", From: clock - aDay, To: clock + aDay})}},
		} {
			if err := p.Timeline(&x); err != nil {
				return err
			}
		}
		return nil
	}},
}

// TestOddPagesAreAsKept writes them all.
func TestOddPagesAreAsKept(t *testing.T) {
	s := sheets{t: t}
	for _, x := range odd {
		s.about(x.name)
		s.show(len(formats), x.write)
	}
	s.keep("odd")
}
