package explaintest

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// cronFacts is what the records of one CronJob say, up to a point in the log.
type cronFacts struct {
	at      events.Sequence // 0 for the end of the log
	now     events.Time     // the time of the answer
	stream  events.Stream
	all     *everything
	records []*events.Record
	whole   bool // the CronJob's first record is in the log

	specs   []specFrom
	created events.Time
	gone    bool
	runs    []*runFacts
	told    []told
	opens   []events.Time // due times that the records name as not decided yet
}

// specFrom is a version of a CronJob's spec, and the time from which on it was seen.
type specFrom struct {
	*events.CronJobSeen
	from  events.Time
	after *schedule.Schedule // its parsed schedule; nil if the log lacks the zone rules for it
	in    *time.Location
}

// runFacts is one Job of the CronJob, by the records of the CronJob.
type runFacts struct {
	events.RunSeen
	gone bool
}

// told is a due time, or a range of them, with its outcome, and the record that has the outcome.
type told struct {
	events.Tick
	at events.Sequence
}

func (e *everything) cronFactsOf(ctx context.Context, src history.Source, s events.Stream, at events.Sequence,
	now events.Time) (*cronFacts, error) {
	f := &cronFacts{at: at, now: now, stream: s, all: e, whole: true}
	var rules history.ZoneRules
	for i, r := range e.of[s] {
		if at != 0 && r.Sequence > at {
			break
		}
		f.records = append(f.records, r)
		f.whole = f.whole && (i > 0 || r.Previous == 0)
		switch x := r.Facts.(type) {
		case *events.CronJobSeen:
			if err := rules.Find(ctx, src, x.Zones...); err != nil {
				return nil, err
			}
			f.created, f.gone = x.Created, false
			f.specs = append(f.specs, specOf(&rules, x, r.Time))
		case *events.CronJobGone:
			f.gone = true
		case *events.RunSeen:
			run := f.run(x.Job)
			if run == nil {
				run = &runFacts{}
				f.runs = append(f.runs, run)
			}
			run.RunSeen, run.gone = *x, false
		case *events.RunGone:
			if run := f.run(x.Job); run != nil {
				run.gone = true
			}
		case *events.Decision:
			if r.Kind != events.KindWouldDecide {
				f.decided(r, x)
			}
		}
	}
	return f, nil
}

func specOf(rules *history.ZoneRules, seen *events.CronJobSeen, from events.Time) specFrom {
	out := specFrom{CronJobSeen: seen, from: from}
	t := history.TimingOf(seen)
	if s, in, err := rules.Schedule(t.Schedule, t.TimeZone, t.Hash); err == nil {
		out.after, out.in = &s, in
	}
	return out
}

func (f *cronFacts) run(uid types.UID) *runFacts {
	for _, r := range f.runs {
		if r.Job == uid {
			return r
		}
	}
	return nil
}

func (f *cronFacts) decided(r *events.Record, d *events.Decision) {
	for i := range d.Steps {
		if step := d.Steps[i].Cron; step != nil {
			for _, t := range step.Ticks {
				f.told = append(f.told, told{t, r.Sequence})
			}
			if l := step.Ledger; l != nil && l.Open != 0 {
				f.opens = append(f.opens, l.Open)
			}
		}
	}
}

// asksFor reports whether this is not a due time, but a Job that a user created or asked for.
func (t *told) asksFor() bool { return t.Fate == events.TickManual || t.Fate == events.TickTriggered }

// due returns the due times t with after < t <= through, by the newest spec; nil if the zone rules are unknown.
func (f *cronFacts) due(after, through events.Time) (out []events.Time) {
	if len(f.specs) == 0 {
		return nil
	}
	return f.specs[len(f.specs)-1].due(after, through)
}

// due returns the due times t with after < t <= through, by this spec; nil if the zone rules are unknown, or if there
// are more than 10,000.
func (s *specFrom) due(after, through events.Time) (out []events.Time) {
	if s.after == nil {
		return nil
	}
	from := after.Go()
	if s.after.Every() { // @every counts from the newest due time that started, or else from the creation
		from = history.TimingOf(s.CronJobSeen).Anchor.Go()
	}
	for t := range s.after.Between(from, through.Go()) {
		if !t.After(after.Go()) {
			continue
		}
		if out = append(out, events.At(t)); len(out) > 10_000 {
			return nil
		}
	}
	return out
}

// fateOf returns the recorded outcome of a due time; nil if no record has it.
func (f *cronFacts) fateOf(due events.Time) *told {
	for i := len(f.told) - 1; i >= 0; i-- {
		if t := &f.told[i]; t.First <= due && due <= t.Last && !t.asksFor() {
			return t
		}
	}
	return nil
}

// cronChecker is a rule that answers about a CronJob must keep. check returns the sentences that break it.
type cronChecker struct {
	rule  string
	check func(a *explain.Answer, f *cronFacts) []claim
}

var cronCheckers = []cronChecker{
	{"rules out what it says", cronRuledOut},
	{"calls its history complete, and says that it was not watched", wholeHistory},
	{"healthy, but a due time is open", healthy},
	{"lays our deeds on others", cronDeeds},
	{"counts other than the schedule", cronCounts},
	{"a time or duration that is none", cronTimes},
	{"a run other than as it was seen", runsAsSeen},
	{"leaves a run out", runsTold},
}

// cronJob checks all answers about a CronJob as of record at (0 for the end of the log), and adds what it finds to the
// Report.
func (r *Report) cronJob(ctx context.Context, src history.Source, all *everything, s events.Stream,
	at events.Sequence) error {
	c, err := cron.Read(ctx, src, s, history.Point{Sequence: at})
	if errors.Is(err, history.ErrNoCronJob) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := all.cronFactsOf(ctx, src, s, at, events.Time(c.State.AsOf.Time))
	if err != nil {
		return err
	}
	a := c.Answer()
	r.Answers++
	r.Sentences += len(sentences(&a))
	for _, k := range cronCheckers {
		r.claims(k.rule, &a, at, k.check(&a, f))
	}
	if at != 0 {
		return nil // ticks and why-not only answer for the end of the log
	}
	due, err := duetimes.Read(ctx, src, s)
	if err != nil {
		return err
	}
	r.claims("ticks other than the records", &a, at, ticksAsTold(due, f))
	r.claims("two answers differ", &a, at, append(openAlike(due, &c.State), all.lists.cronJob(&a, &c.State)...))
	return r.whyNots(ctx, src, &a, due, f)
}

// mostAsked is the number of due times of each CronJob for which why-not is asked, approximately.
const mostAsked = 24

// whyNots checks the answers of why-not, for due times of a CronJob and for instants that are none.
func (r *Report) whyNots(ctx context.Context, src history.Source, a *explain.Answer, due *duetimes.CronJob,
	f *cronFacts) error {
	step := max(1, len(due.Entries)/mostAsked)
	for i := 0; i < len(due.Entries); i += step {
		e := &due.Entries[i]
		for _, t := range []events.Time{e.First, e.Last, e.First.Add(time.Second)} {
			w, err := whynot.Read(ctx, src, []events.Stream{f.stream}, t.Go(), words.Zone{})
			if err != nil {
				return err
			}
			r.Answers++
			r.Sentences += len(w.Sentences)
			r.claims("why-not other than the records", a, 0, whyNotAsTold(w, f))
		}
	}
	return nil
}
