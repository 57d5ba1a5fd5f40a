package explaintest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// cronExcluded has what the section RULED OUT of a CronJob may exclude, and for each the words by which another section
// (head) would say the opposite.
var cronExcluded = []struct {
	what, head string
	said       *regexp.Regexp
}{
	{"suspension", "", regexp.MustCompile(`(?i)\bsuspended (at|for|since)|was suspended|suspend false → true`)},
	{"a starting deadline", "", regexp.MustCompile(`startingDeadlineSeconds (is )?\d|too late`)},
	{"a refusal of its Jobs", "REFUSED", regexp.MustCompile(`API server refuse(s|d [^i]|d it )`)}, // not about its pods
	{"an edit", "EDITED", regexp.MustCompile(`suspended at [^;]*field manager|→`)},
	{"a gap", "", regexp.MustCompile(`\bGAP\b|no controller watched|it was not watched`)},
}

// cronRuledOut checks that no other section of an answer about a CronJob says what the section RULED OUT excludes.
func cronRuledOut(a *explain.Answer, _ *cronFacts) (out []claim) {
	rules := section(a, "RULED OUT")
	if len(rules) == 0 {
		return nil
	}
	listed := strings.Split(rules[0].Text, ", ")
	for _, x := range cronExcluded {
		if !slices.Contains(listed, x.what) {
			continue
		}
		for _, s := range append([]explain.Section{{Head: "VERDICT", Sentences: []explain.Sentence{a.Verdict}}},
			a.Sections...) {
			for _, y := range s.Sentences {
				if s.Head != "RULED OUT" && (s.Head == x.head || x.said.MatchString(y.Text)) {
					out = append(out, claim{"RULED OUT " + x.what, s.Head + " " + y.Text})
				}
			}
		}
	}
	return out
}

var notWatched = regexp.MustCompile(`not watched from|no controller watched`)

// wholeHistory checks that an answer without gaps (times in which nobody watched) does not say that something was not
// watched.
func wholeHistory(a *explain.Answer, _ *cronFacts) (out []claim) {
	if len(a.Gaps) > 0 || a.Begun != "" || a.Truncated || a.Damaged != 0 {
		return nil
	}
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			if notWatched.MatchString(x.Text) {
				out = append(out, claim{"no gaps", s.Head + " " + x.Text})
			}
		}
	}
	return out
}

// patient is how late a Job may start without trouble if startingDeadlineSeconds is not set. The built-in controller
// checks again within some seconds; after a restart it needs a minute or two.
const patient = 2 * time.Minute

// healthy checks that a CronJob is called HEALTHY only if each of its due times has an outcome or a Job, or may still
// start.
func healthy(a *explain.Answer, f *cronFacts) []claim {
	if !strings.HasPrefix(a.Verdict.Text, "HEALTHY") || f.gone || len(f.specs) == 0 {
		return nil
	}
	last := &f.specs[len(f.specs)-1]
	since := max(last.Created, last.from) // due times before this belong to an older spec
	wait := patient
	if d := last.Deadline; d != nil {
		wait = max(wait, time.Duration(min(*d, 1<<31))*time.Second)
	}
	for _, due := range f.due(since, f.now.Add(-min(wait, patient))) {
		if f.fateOf(due) == nil && !f.started(due) {
			return []claim{{a.Verdict.Text, fmt.Sprintf("%s was due, and %s later nothing says what became of it",
				due.Go().UTC().Format(time.DateTime), f.now.Sub(due))}}
		}
	}
	return nil
}

// started reports whether a Job was started for a due time, or for a later one, so that the next record will tell about
// both.
func (f *cronFacts) started(due events.Time) bool {
	return slices.ContainsFunc(f.runs, func(r *runFacts) bool {
		return r.Due == due || r.Due > due &&
			f.fateOf(r.Due) == nil
	})
}

var (
	byAnother = regexp.MustCompile(`started by another controller`)
	handMade  = regexp.MustCompile(`made by hand|triggered by`)
)

// cronDeeds checks that no answer attributes to another controller or a user a Job that Jobledger created for a due
// time.
func cronDeeds(a *explain.Answer, f *cronFacts) (out []claim) {
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			for i := range f.told {
				t := &f.told[i]
				if t.Name == "" || !named(x.Text, t.Name) {
					continue
				}
				switch {
				case byAnother.MatchString(x.Text) && !t.Observed && !t.asksFor():
					out = append(out, claim{s.Head + " " + x.Text, fmt.Sprintf("record %d says that we made %s", t.at, t.Name)})
				case s.Head == "BY HAND" && handMade.MatchString(x.Text) && !t.asksFor():
					out = append(out, claim{s.Head + " " + x.Text, fmt.Sprintf("record %d says that %s was made for a due time", t.at,
						t.Name)})
				}
			}
		}
	}
	return out
}

// named reports whether a text has a name as a whole word.
func named(text, name string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:()", r) }), name)
}

var (
	rangeCount   = regexp.MustCompile(`(\d+) due times? from `)
	startedCount = regexp.MustCompile(`its last (\d+) due times started`)
	failedCount  = regexp.MustCompile(`its last (\d+) runs failed`)
)

// cronCounts checks the numbers of due times and runs in an answer against the records.
func cronCounts(a *explain.Answer, f *cronFacts) (out []claim) {
	if m := startedCount.FindStringSubmatch(a.Verdict.Text); m != nil && f.whole {
		if n := f.startedInARow(); n < number(m[1]) {
			out = append(out, claim{a.Verdict.Text, fmt.Sprintf("the records tell of %d in a row", n)})
		}
	}
	if m := failedCount.FindStringSubmatch(a.Verdict.Text); m != nil && number(m[1]) > f.failed() {
		out = append(out, claim{a.Verdict.Text, fmt.Sprintf("%d of its Jobs were seen to fail", f.failed())})
	}
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			m := rangeCount.FindStringSubmatch(x.Text)
			if m == nil {
				continue
			}
			if n := f.ranged(&x); n != 0 && n != number(m[1]) {
				out = append(out, claim{s.Head + " " + x.Text, fmt.Sprintf("its schedule has %d", n)})
			}
		}
	}
	return out
}

// ranged returns the number of due times in the one range that sentence x cites. It returns 0 if x cites no range, if
// it cites several (it may join them), or if the schedule was changed.
func (f *cronFacts) ranged(x *explain.Sentence) (n int) {
	if len(f.specs) != 1 {
		return 0
	}
	cited := 0
	for i := range f.told {
		if t := &f.told[i]; slices.Contains(x.Records, uint64(t.at)) && !t.asksFor() {
			n = len(f.due(t.First.Add(-1), t.Last))
			if cited++; cited > 1 || t.First == t.Last {
				return 0
			}
		}
	}
	return n
}

// startedInARow counts how many of the newest due times have a Job, in a row. It uses the recorded outcomes, then the
// Jobs that were seen, then the CronJob's status, which may name a Job before it is seen.
func (f *cronFacts) startedInARow() (n int) {
	told := events.Time(0)
	for i := range f.told {
		if t := &f.told[i]; !t.asksFor() {
			told = max(told, t.Last)
		}
	}
	unseen := events.Time(0)
	if len(f.specs) > 0 {
		unseen = f.specs[len(f.specs)-1].LastSchedule
	}
	for _, r := range f.runs {
		if r.Due > told && !r.Manual {
			n++
		}
		if r.Due == unseen {
			unseen = 0
		}
	}
	if unseen > told {
		n++
	}
	for _, t := range slices.Backward(f.told) {
		// Skip Jobs that users created or asked for, and TickAgain, which marks an older due time that is also in
		// another entry.
		if t.asksFor() || t.Fate == events.TickAgain {
			continue
		}
		if t.Fate != events.TickStarted {
			break
		}
		n++
	}
	return n
}

func (f *cronFacts) failed() (n int) {
	for _, r := range f.runs {
		if r.Result == events.ResultFailed {
			n++
		}
	}
	return n
}

var ends = regexp.MustCompile(`; (COMPLETE|FAILED|it has not ended|deleted before it ended)`)

// runsAsSeen checks that an answer says the same as the CronJob's records about the end of each Job.
func runsAsSeen(a *explain.Answer, f *cronFacts) (out []claim) {
	for _, x := range section(a, "RUNS") {
		m := ends.FindStringSubmatch(x.Text)
		if m == nil {
			continue
		}
		for _, r := range f.runs {
			if !named(x.Text, r.Name) {
				continue
			}
			want := map[events.JobResult]string{events.ResultComplete: "COMPLETE", events.ResultFailed: "FAILED"}[r.Result]
			if is := m[1]; want != "" && is != want || want == "" && (is == "COMPLETE" || is == "FAILED") && !r.gone {
				out = append(out, claim{"RUNS " + x.Text, fmt.Sprintf("it was seen as %s", r.Result)})
			}
		}
	}
	return out
}

// mostRuns is how many Jobs an answer about a CronJob lists at most.
const mostRuns = 12

// runsTold checks that the section RUNS names the Job of each due time that started, even if the Job was not seen. It
// checks nothing if the section has as many Jobs as fit (mostRuns).
func runsTold(a *explain.Answer, f *cronFacts) (out []claim) {
	runs := section(a, "RUNS")
	if len(runs) >= mostRuns {
		return nil
	}
	for i := range f.told {
		t := &f.told[i]
		named := func(s explain.Sentence) bool { return named(s.Text, t.Name) }
		if t.Fate == events.TickStarted && t.Name != "" && !slices.ContainsFunc(runs, named) {
			out = append(out, claim{"RUNS", fmt.Sprintf("record %d says that %s was started", t.at, t.Name)})
		}
	}
	return out
}

// ticksAsTold checks that the list of due times (`ticks`) has exactly those that the records name, in their order.
func ticksAsTold(due *duetimes.CronJob, f *cronFacts) (out []claim) {
	if len(due.Entries) != len(f.told) {
		return []claim{{fmt.Sprintf("%d entries", len(due.Entries)), fmt.Sprintf("the records tell of %d", len(f.told))}}
	}
	for i := range due.Entries {
		e, t := &due.Entries[i], &f.told[i]
		if e.Record != t.at || e.Tick != t.Tick {
			out = append(out, claim{fmt.Sprintf("%+v", e.Tick), fmt.Sprintf("record %d says %+v", t.at, t.Tick)})
		}
	}
	return out
}

// openAlike checks that `ticks` and `explain` agree about the open due time (the one without an outcome), and about
// what holds it back.
func openAlike(due *duetimes.CronJob, state *history.CronJob) []claim {
	a, b := due.Open(), state.Due
	switch {
	case a == nil && b == nil:
	case a == nil || b == nil:
		return []claim{{fmt.Sprintf("ticks: %+v", a), fmt.Sprintf("explain: %+v", b)}}
	case a.At != b.At || a.First != b.First || a.Hold != b.Hold:
		return []claim{{fmt.Sprintf("ticks: %+v", *a), fmt.Sprintf("explain: %+v", *b)}}
	}
	return nil
}

// whyNotAsTold checks the answer of why-not for an instant. If records name the instant as a due time, the answer must
// have the recorded outcome and cite its record. If neither a record nor the schedule names it, the answer must say
// that it is not a due time.
func whyNotAsTold(w *whynot.WhyNot, f *cronFacts) (out []claim) {
	at := events.Time(w.At)
	told := f.fateOf(at)
	if told != nil && told.First != told.Last && at != told.First && at != told.Last {
		return nil // whether this instant was due depends on the schedule of that time
	}
	says := ""
	for _, s := range w.Sentences {
		says += s.Text + ". "
	}
	switch {
	case told == nil && w.Tick != nil && w.Due:
		out = append(out, claim{says, "no record tells of it"})
	case told != nil && !w.Due:
		out = append(out, claim{says, fmt.Sprintf("record %d says %s", told.at, told.Fate)})
	case told != nil && (w.Tick == nil || w.Tick.Fate != told.Fate.String() || w.Tick.Record != uint64(told.at) ||
		w.Tick.JobUID != string(told.Job)):
		out = append(out, claim{fmt.Sprintf("%s%+v", says, w.Tick), fmt.Sprintf("record %d says %+v", told.at, told.Tick)})
	case told == nil && w.Due && !slices.Contains(f.due(at-1, at), at) && f.timingOf(at) == nil:
		out = append(out, claim{says, "its schedule has no such due time"})
	}
	for _, n := range w.Nearest {
		if w.Due || events.Time(n) == at {
			out = append(out, claim{"the nearest due time is " + recordjson.Stamp(events.Time(n)), says})
		}
	}
	return out
}

// timingOf returns the Job at time at that a user created or asked for; nil if there is none.
func (f *cronFacts) timingOf(at events.Time) *told {
	for i := range f.told {
		if t := &f.told[i]; t.asksFor() && t.First == at {
			return t
		}
	}
	return nil
}
