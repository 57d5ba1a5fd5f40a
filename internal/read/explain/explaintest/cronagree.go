package explaintest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// CronAgrees checks that all answers about a CronJob agree, now and for some instants: explain, get, the list, ticks
// (the due times) and why-not. It returns contradictions between them, numbers in explain that differ from the records,
// and what [Check] finds.
func CronAgrees(ctx context.Context, src history.Source, s events.Stream, instants []events.Time) (*Report, error) {
	all, err := readAll(ctx, src)
	if err != nil {
		return nil, err
	}
	c, err := cron.Read(ctx, src, s, history.Point{})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	f, err := all.cronFactsOf(ctx, src, s, 0, events.Time(c.State.AsOf.Time))
	if err != nil {
		return nil, err
	}
	due, err := duetimes.Read(ctx, src, s)
	if err != nil {
		return nil, fmt.Errorf("ticks: %w", err)
	}
	page, err := src.CronJobs(ctx, history.CronJobsQuery{UID: s.ID})
	if err != nil {
		return nil, fmt.Errorf("get cronjobs: %w", err)
	}
	a, r := c.Answer(), &Report{Answers: 4}
	r.Sentences = len(sentences(&a))
	for _, k := range cronCheckers {
		r.claims(k.rule, &a, 0, k.check(&a, f))
	}
	if len(page.Items) != 1 {
		r.claims("two answers differ", &a, 0, []claim{{a.Verdict.Text, fmt.Sprintf("the list has it %d times",
			len(page.Items))}})
		return r, nil
	}
	r.claims("two answers differ", &a, 0, rowAlike(&page.Items[0], c, due))
	r.claims("counts other than the records", &a, 0, (&counting{f, due, windowed(&a)}).check(a.Verdict.Text))
	if next := events.Time(c.State.Next); next != 0 {
		instants = append(slices.Clone(instants), next)
	}
	for _, at := range instants {
		w, err := whynot.Read(ctx, src, []events.Stream{s}, at.Go(), words.Zone{})
		if err != nil {
			return nil, fmt.Errorf("why-not: %w", err)
		}
		r.Answers++
		r.Sentences += len(w.Sentences)
		r.claims("why-not other than ticks", &a, 0, instantAlike(w, due, at, events.Time(c.State.Next)))
	}
	return r, nil
}

// windowed reports whether an answer covers only the newest due times of a CronJob, and not all.
func windowed(a *explain.Answer) bool {
	return a.Truncated || slices.ContainsFunc(section(a, "HISTORY"),
		func(s explain.Sentence) bool { return strings.Contains(s.Text, "are not looked at here") })
}

// rowAlike compares the row of a CronJob in the list with the answers of `get` and of `ticks` (its due times), and
// returns contradictions.
func rowAlike(row *history.CronSummary, c *cron.Case, due *duetimes.CronJob) (out []claim) {
	state := &c.State
	differ := func(what string, a, b any) {
		if a, b := fmt.Sprint(a), fmt.Sprint(b); a != b {
			out = append(out, claim{"get cronjobs: " + what + " " + a, "get cronjob: " + b})
		}
	}
	differ("state", row.State, state.State)
	differ("next", row.Next, state.Next)
	differ("lastScheduleTime", row.LastSchedule, state.Published.LastSchedule)
	differ("suspend", row.Suspend, state.Spec.Suspend)
	if row.LastDue != nil && state.LastDue != nil {
		differ("last due", *row.LastDue, *state.LastDue)
	}
	if state.State == history.CronDeleted || due.Gone != 0 {
		return out
	}
	differ("managed", row.Managed, state.Managed)
	differ("due", openText(row.Due), openText(state.Due))
	if ticks := openText(due.Open()); ticks != openText(state.Due) {
		out = append(out, claim{"ticks: due " + ticks, "get cronjob: " + openText(state.Due)})
	}
	return out
}

func openText(d *history.OpenDue) string {
	if d == nil {
		return "none"
	}
	return fmt.Sprintf("%d from %d, %s", d.At, d.First, d.Hold)
}

// instantAlike compares the answer of why-not for the instant at with the list of due times (ticks). next is the due
// time after it.
func instantAlike(w *whynot.WhyNot, due *duetimes.CronJob, at, next events.Time) (out []claim) {
	var text []string
	for _, s := range w.Sentences {
		text = append(text, s.Text)
	}
	says := at.Go().UTC().Format(time.RFC3339) + ": " + strings.Join(text, ". ")
	var ends, within []duetimes.Entry
	for _, e := range due.All() {
		if e.Asked() || at < e.First || at > e.Last {
			continue
		}
		within = append(within, e)
		if at == e.First || at == e.Last {
			ends = append(ends, e)
		}
	}
	open := due.Open() != nil && events.Time(due.Open().At) == at
	switch n := len(ends); {
	case n == 0 && w.Tick != nil && !slices.ContainsFunc(within,
		func(e duetimes.Entry) bool { return e.Fate.String() == w.Tick.Fate }) && w.Due:
		out = append(out, claim{says, "ticks does not list it"})
	case n > 0 && !w.Due:
		out = append(out, claim{says, fmt.Sprintf("ticks lists it as %s (record %d)", ends[n-1].Fate, ends[n-1].Record)})
	case n > 0 && ends[n-1].Fate != 0 && (w.Tick == nil || w.Tick.Fate != ends[n-1].Fate.String() ||
		w.Tick.JobUID != string(ends[n-1].Job)):
		out = append(out, claim{says, fmt.Sprintf("ticks lists it as %s, %s (record %d)", ends[n-1].Fate, ends[n-1].Name,
			ends[n-1].Record)})
	case n == 0 && open && (!w.Due || w.Tick != nil):
		out = append(out, claim{says, "ticks lists it as open"})
	case at == next && (!w.Due || w.Tick != nil):
		out = append(out, claim{says, "explain says that it is due then"})
	}
	return out
}

// counting compares the numbers in the verdict about a CronJob with the records.
type counting struct {
	f        *cronFacts
	due      *duetimes.CronJob
	windowed bool // the answer has only the newest due times: it may count fewer
}

var (
	countStarted    = regexp.MustCompile(`^HEALTHY: its last (?:(\d+) due times|due time) started`)
	countLate       = regexp.MustCompile(`started,? (?:at most )?(\S+) late`)
	countMissed     = regexp.MustCompile(`its last (?:(\d+) due times|due time) did not start`)
	countStarved    = regexp.MustCompile(`^STARVING: its last (\d+) Jobs`)
	countUnfinished = regexp.MustCompile(`^UNFINISHED: (\d+) of its Jobs have not ended`)
	countRunning    = regexp.MustCompile(`; (\d+) of its Jobs run\b`)
	countFailed     = regexp.MustCompile(`^FAILING: its last (?:(\d+) runs|run) failed`)
	countSince      = regexp.MustCompile(`^FAILING since the edit of .*: (\d+) of (\d+) failed, (\d+) of (\d+) before succeeded`)
)

func (k *counting) check(verdict string) (out []claim) {
	count := func(re *regexp.Regexp, least, most int, what string) {
		m := re.FindStringSubmatch(verdict)
		if m == nil {
			return
		}
		n := 1
		if m[1] != "" {
			n = number(m[1])
		}
		if n > most || n < least && !k.windowed {
			out = append(out, claim{verdict, fmt.Sprintf("the records have %d to %d %s", least, most, what)})
		}
	}
	started, late := k.started()
	count(countStarted, started, started, "due times in a row that started")
	if m := countLate.FindStringSubmatch(verdict); m != nil && strings.HasPrefix(verdict, "HEALTHY") &&
		m[1] != words.Span(late) && !k.windowed {
		out = append(out, claim{verdict, fmt.Sprintf("the records have %s", words.Span(late))})
	}
	least, most := k.missed()
	count(countMissed, least, most, "due times in a row that did not start")
	count(countStarved, 2, k.over(), "Jobs in a row that were deleted before they ended")
	running := k.running()
	count(countUnfinished, running, running, "Jobs that have not ended")
	count(countRunning, running, running, "Jobs that run")
	failed := k.failedInARow()
	count(countFailed, failed, failed, "runs in a row that failed")
	if m := countSince.FindStringSubmatch(verdict); m != nil && !k.windowed {
		out = append(out, k.since(verdict, number(m[1]), number(m[2]), number(m[3]), number(m[4]))...)
	}
	return out
}

// dues returns the passed due times, the newest first.
func (k *counting) dues() (all []duetimes.Entry) {
	for _, e := range k.due.All() {
		if !e.Asked() {
			all = append(all, e)
		}
	}
	slices.Reverse(all)
	return all
}

func (k *counting) started() (n int, late time.Duration) {
	for _, e := range k.dues() {
		switch {
		case e.Fate == 0, e.Fate == events.TickReplaced && n == 0, e.Fate == events.TickAgain:
			continue
		case e.Job == "" && e.Fate != events.TickStarted:
			return n, late
		}
		n, late = n+1, max(late, e.Late)
	}
	return n, late
}

// missed counts how many of the newest due times have not started, in a row. most includes due times that may still
// start; least does not.
func (k *counting) missed() (least, most int) {
	if open := k.due.Open(); open != nil && open.First == 0 {
		most++
	}
	for _, e := range k.dues() {
		if e.Job != "" || e.Fate == events.TickStarted || e.Fate == events.TickReplaced || e.Fate == events.TickDeleted ||
			e.Fate == events.TickUnknown {
			break
		}
		n, _ := k.due.Count(&e)
		if most += max(n, 1); e.Fate != 0 {
			least += max(n, 1)
		}
	}
	return least, most
}

// runs returns the Jobs that were created for due times, the newest first.
func (k *counting) runs() (all []*runFacts) {
	for _, r := range k.f.runs {
		asked := r.Manual || r.Due == 0
		for i := range k.f.told {
			if t := &k.f.told[i]; t.Job == r.Job {
				asked = t.asksFor() || t.By != ""
			}
		}
		if !asked {
			all = append(all, r)
		}
	}
	slices.Reverse(all) // of Jobs of the same second, the later one comes first
	slices.SortStableFunc(all, func(a, b *runFacts) int { return int(b.Created/1e9 - a.Created/1e9) })
	return all
}

func (k *counting) failedInARow() (n int) {
	for _, r := range k.runs() {
		switch r.Result {
		case events.ResultComplete:
			return n
		case events.ResultFailed:
			n++
		case events.ResultNone:
		}
	}
	return n
}

func (k *counting) over() (n int) {
	for _, r := range k.runs() {
		switch {
		case r.Result != events.ResultNone:
			return n
		case r.gone:
			n++
		}
	}
	return n
}

func (k *counting) running() (n int) {
	for _, r := range k.f.runs {
		if r.Result == events.ResultNone && !r.gone {
			n++
		}
	}
	return n
}

// since checks the numbers in a verdict about an edit: how many Jobs failed of those after it, and succeeded of those
// before it. Together these must be all ended Jobs that were created for due times.
func (k *counting) since(verdict string, failed, after, succeeded, before int) (out []claim) {
	ended, good := 0, 0
	for _, r := range k.runs() {
		if r.Result != events.ResultNone {
			ended++
		}
		if r.Result == events.ResultComplete {
			good++
		}
	}
	if failed != after || failed != k.failedInARow() || after+before != ended || succeeded != good {
		out = append(out, claim{verdict, fmt.Sprintf("of %d Jobs that have ended %d succeeded, and the last %d failed", ended,
			good, k.failedInARow())})
	}
	return out
}
