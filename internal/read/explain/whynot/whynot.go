package whynot

import (
	"context"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// WhyNot is the answer to why no Job was started at one instant of a CronJob. Its JSON changes only by adding fields.
type WhyNot struct {
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	UID       string             `json:"uid"`
	At        recordjson.Instant `json:"at"`

	Due  bool             `json:"due"`            // the instant is a due time, in the past, now, or in the future
	Tick *history.Tick    `json:"tick,omitempty"` // the due time, if its outcome is known
	Open *history.OpenDue `json:"open,omitempty"` // the due time, if it is held back
	// PassedOver has the times between the instant and its outcome in which the CronJob's namespace was over its log
	// budget, so that records may be missing.
	PassedOver []history.Passed `json:"passedOver,omitempty"`
	// Unrecorded is the number of versions of the CronJob and its Jobs in that time that were seen and got no record.
	Unrecorded uint64 `json:"unrecordedVersions,omitempty"`

	Nearest   []recordjson.Instant `json:"nearest,omitempty"` // due times around the instant, if it is none itself
	Sentences []explain.Sentence   `json:"sentences"`
}

// Read says what became of the instant t of the CronJob that existed then. lives are the streams (the records) of all
// CronJobs with the name, the newest first. Times in sentences are in zone; due times are also in the zone of the
// schedule.
func Read(ctx context.Context, src history.Source, lives []events.Stream, t time.Time, zone words.Zone) (*WhyNot,
	error) {
	at := events.At(t)
	s, due, before, err := lifeAt(ctx, src, lives, at)
	if err != nil {
		return nil, err
	}
	f := &fates.Fates{Due: due, Zone: zone, Location: due.Location(), Dates: true, Before: before}
	if f.Gaps, err = history.GapsAt(ctx, src, at); err != nil && !src.Beside(err) {
		return nil, fmt.Errorf("look for times in which no controller watched: %w", err)
	}
	w := &WhyNot{Namespace: due.Ref.Namespace, Name: due.Ref.Name, UID: s.ID, At: recordjson.Instant(at)}
	v := due.At(t)
	if !v.Due() {
		if err := due.LookBack(ctx, src, s); err != nil {
			return nil, fmt.Errorf("look for earlier changes of the schedule: %w", err)
		}
	}
	w.answer(f, v, at)
	if s != lives[0] {
		w.add(nil, "%s: another CronJob has its name since", f.GoneText())
	}
	passed, err := history.PassedSince(ctx, src, at)
	if err != nil && !src.Beside(err) {
		return nil, fmt.Errorf("look for what was passed over: %w", err)
	}
	w.missing(f, passed, &v, at)
	return w, nil
}

// lifeAt reads the CronJob that existed at the instant at, out of lives: the streams (records) of all CronJobs with the
// name, the newest first. It returns that CronJob as due. If none existed then, due is the next one, and before is the
// one before it.
func lifeAt(ctx context.Context, src history.Source, lives []events.Stream, at events.Time) (s events.Stream, due,
	before *duetimes.CronJob, err error) {
	for i := range lives {
		read, err := duetimes.Around(ctx, src, lives[i], at)
		switch {
		case err != nil && i > 0:
			src.Beside(err)
			return s, due, nil, nil // an older CronJob with the name cannot be read: use the newer one
		case err != nil:
			return s, nil, nil, err
		case i > 0 && (read.Seen == nil || read.Gone != 0 && read.Gone < at):
			return s, due, read, nil
		}
		if i > 0 {
			read.EndBy(due.Seen.Created)
		}
		s, due = lives[i], read
		if due.Seen == nil || at >= due.Seen.Created {
			break
		}
	}
	return s, due, nil, nil
}

func (w *WhyNot) add(from []explain.Mark, format string, args ...any) {
	w.Sentences = append(w.Sentences, explain.Say(from, format, args...))
}

func (w *WhyNot) answer(f *fates.Fates, v duetimes.Verdict, at events.Time) {
	who := "cronjob/" + w.Name
	w.Due = v.Due()
	switch {
	case v.Entry != nil && v.Entry.Record == 0:
		w.computed(f, &v, at, who)
	case v.Entry != nil:
		w.told(f, &v, at, who)
	case v.Open:
		w.Open = f.Due.Open()
		w.add(nil, "%s is a due time of %s, and has not started yet: %s", f.At(at), who, w.Open.Says)
		w.held(f, at)
		w.next(f)
	case v.Future && f.Idle() != "":
		w.add(nil, "%s is a due time of %s by its schedule %q, but %s", f.At(at), who, f.Due.Seen.Schedule, f.Idle())
	case v.Passed:
		w.passed(f, &v, at, who)
	case v.Future:
		w.add(nil, "%s is a due time of %s by its schedule %q, and nothing was decided about it yet", f.At(at), who,
			f.Due.Seen.Schedule)
	case v.Unseen:
		w.unseen(f, at, who)
	case f.Due.Told != 0 && at <= f.Due.Told:
		w.add(nil, "what became of %s is unknown: the records of then are no longer kept", f.At(at))
	case f.Due.Seen != nil && at < f.Due.Seen.Created && f.Before != nil && f.Before.Gone != 0:
		w.add(nil, "%s was no due time of %s: there was none of that name: one was deleted, seen at %s, and the next was created at %s",
			f.At(at), who, f.Seen(f.Before.Gone), f.Seen(f.Due.Seen.Created))
	case f.Due.Seen != nil && at < f.Due.Seen.Created:
		w.add(nil, "%s was no due time of %s: it was created at %s", f.At(at), who, f.Seen(f.Due.Seen.Created))
	case f.Due.Gone != 0 && at > f.Due.Gone:
		w.afterEnd(f, at, who)
	default:
		w.none(f, &v, at, who)
	}
}

// unseen answers for an instant that was due before the CronJob's first record. who names the CronJob.
func (w *WhyNot) unseen(f *fates.Fates, at events.Time, who string) {
	_, first := f.Due.Before(at)
	seen, m := f.Due.SeenFirst(), []explain.Mark{{Record: first.Record, At: first.At}}
	w.add(m, "%s was a due time of %s by the schedule %q that it had when it was seen first, at %s", f.At(at), who,
		seen.Schedule, f.Seen(first.At))
	if at == seen.LastSchedule {
		w.add(m, "it was started before that: status.lastScheduleTime says so")
		return
	}
	w.add(m, "what became of it is unknown: it was not watched before that; the newest that was started is %s, by status.lastScheduleTime", f.At(seen.LastSchedule))
}

// afterEnd answers for an instant after the deletion of the newest CronJob with the name. If nobody watched at that
// time, another CronJob may have existed.
func (w *WhyNot) afterEnd(f *fates.Fates, at events.Time, who string) {
	g := f.GapAt(at)
	switch {
	case f.Due.Blind != 0 && at >= f.Due.Blind:
		w.add([]explain.Mark{{Record: f.Due.BlindBy, At: f.Due.Blind}},
			"whether %s was a due time of %s is unknown: %s, and since %s no controller records CronJobs", f.At(at), who,
			f.GoneText(), f.Seen(f.Due.Blind))
	case g != nil && events.Time(g.From) >= f.Due.Gone:
		end := "on"
		if g.Until != 0 {
			end = "to " + f.Seen(events.Time(g.Until))
		}
		w.add(explain.GapMarks(g), "whether %s was a due time of %s is unknown: %s, and it was not watched from %s %s, %s",
			f.At(at), who, f.GoneText(), f.Seen(events.Time(g.From)), end, explain.GapWhy(g))
	default:
		w.add(nil, "%s was no due time of %s: %s", f.At(at), who, f.GoneText())
	}
}

// toldWithin is how long after a version without a record the record that counts it must come. The controller writes
// such a record once a minute, but a busy turn of its loop can delay it.
const toldWithin = 5 * time.Minute

// missing notes which records may be missing between the instant at and its outcome v: changes in that time may have
// none.
func (w *WhyNot) missing(f *fates.Fates, passed *history.PassedOver, v *duetimes.Verdict, at events.Time) {
	if v.Future && !v.Passed {
		return
	}
	// until is the end of the time in which records may be missing: the time of the outcome; 0 if there is none yet.
	until := events.Time(0)
	switch {
	case v.Entry != nil && v.Entry.Record != 0:
		until = v.Entry.At
	case v.Entry == nil && !v.Open && !v.After.IsZero():
		until = events.At(v.After)
	}
	var unrecorded explain.Unrecorded
	for _, u := range f.Due.Unrecorded {
		if u.At >= at && (until == 0 || u.At <= until.Add(toldWithin)) {
			unrecorded.Add(u.Versions, explain.Mark{Record: u.Record, At: u.At})
		}
	}
	w.PassedOver, w.Unrecorded = passed.Touching(w.Namespace, false, at, until), unrecorded.Versions
	for i := range w.PassedOver {
		w.Sentences = append(w.Sentences, explain.PassedText(&w.PassedOver[i], f.Seen))
	}
	w.Sentences = append(w.Sentences, unrecorded.Sentences("the CronJob and its Jobs")...)
	if len(w.PassedOver) == 0 && w.Unrecorded == 0 {
		return
	}
	if e := v.Entry; e == nil || e.Job == "" {
		w.add(nil, "so a Job may have come and gone then without a record")
	}
}

// told answers for an instant whose outcome is in a record (v.Entry).
func (w *WhyNot) told(f *fates.Fates, v *duetimes.Verdict, at events.Time, who string) {
	e := v.Entry
	item := history.TickOf(&e.Tick, e.Record)
	in := ""
	if n, ok := f.Due.Count(e); ok {
		item.Count, in = n, ": "+words.Count(n, "due time")+" in all"
	}
	w.Tick = &item
	text, from := f.InWhole(func() (string, []explain.Mark) { return f.BecameAt(e, at) })
	if !fates.IsDue(e) {
		w.Due = false
		w.add(from, "%s: no due time of %s, but a run: %s", f.At(at), who, text)
		return
	}
	w.add(from, "%s was a due time of %s: %s", f.At(at), who, text)
	if e.First != e.Last {
		w.add([]explain.Mark{{Record: e.Record, At: e.At}}, "so were the others from %s to %s%s", f.Short(e.First),
			f.Short(e.Last), in)
	} else if e.Job != "" || e.Fate == events.TickStarted {
		w.held(f, at)
		w.suspended(f, e)
	}
	if e.Into == 0 {
		return
	}
	for i := range f.Due.Entries {
		if later := &f.Due.Entries[i]; fates.IsDue(later) && later.First <= e.Into && e.Into <= later.Last &&
			later.Record >= e.Record {
			text, from := f.InWhole(func() (string, []explain.Mark) { return f.Became(later) })
			w.add(from, "that one, %s: %s", f.At(e.Into), text)
			return
		}
	}
	if open := f.Due.Open(); open != nil && events.Time(open.At) == e.Into {
		w.add([]explain.Mark{{Record: events.Sequence(open.Record), At: events.Time(open.Since)}},
			"that one, %s, has not started yet: %s", f.At(e.Into), open.Says)
	}
}

// computed answers for an instant whose outcome is in no record. v.Entry is computed from what was seen of the CronJob
// and its Jobs.
func (w *WhyNot) computed(f *fates.Fates, v *duetimes.Verdict, at events.Time, who string) {
	text, from := f.InWhole(func() (string, []explain.Mark) { return f.BecameAt(v.Entry, at) })
	if v.Entry.Fate == 0 && v.Open {
		w.add(from, "%s is a due time of %s: %s", f.At(at), who, text)
		w.Open = f.Due.Open()
		w.next(f)
		return
	}
	w.add(from, "%s was a due time of %s: %s", f.At(at), who, text)
	if v.Entry.Fate == 0 {
		w.add(nil, "a later one was due since, so it does not start any more")
		return
	}
	item := history.TickOf(&v.Entry.Tick, 0)
	if n, ok := f.Due.Count(v.Entry); ok {
		item.Count = n
	}
	w.Tick = &item
}

// passed answers for a due time in the past for which nothing has started yet. The controller decides about it together
// with the other due times of the same minute.
func (w *WhyNot) passed(f *fates.Fates, v *duetimes.Verdict, at events.Time, who string) {
	w.add(nil, "%s was a due time of %s by its schedule %q, and nothing has started at it so far", f.At(at), who,
		f.Due.SeenAt(at).Schedule)
	open := f.Due.Open()
	switch {
	case v.Run != nil:
		w.add([]explain.Mark{{Record: v.Run.Record, At: v.Run.At}}, "the Job of %s has the name that its Job would have, %s",
			f.At(v.Run.Last), v.Run.Name)
	case v.Hold != events.NotHeld && open != nil:
		w.add([]explain.Mark{{Record: events.Sequence(open.Record), At: events.Time(open.Since)}},
			"the one of %s is held back, and so is it: %s", f.At(events.Time(open.At)), open.Says)
	}
	w.add(nil, "due times of one minute at which nothing starts get their fates together, in the next minute or when something happens")
}

// held says, step by step, what held back the due time at.
func (w *WhyNot) held(f *fates.Fates, at events.Time) {
	for i := range f.Due.Holds {
		if h := &f.Due.Holds[i]; h.Due == at {
			w.add([]explain.Mark{{Record: h.Record, At: h.At}}, "from %s on it was held back: %s", f.Seen(h.At), f.HoldText(h.By,
				h.Active))
		}
	}
	for i := range f.Due.Refusals {
		if x := &f.Due.Refusals[i]; x.Due == at {
			w.add([]explain.Mark{{Record: x.First, At: x.From}, {Record: x.Last, At: x.Until}}, "from %s to %s %s",
				f.Seen(x.From), f.Seen(x.Until), fates.RefusalText(x))
		}
	}
}

// suspended says that a due time that our controller started late came while the CronJob was suspended. The record of
// the due time does not say so, because nothing is decided about a suspended CronJob.
func (w *WhyNot) suspended(f *fates.Fates, e *duetimes.Entry) {
	if len(w.Sentences) > 1 || e.Observed || e.Late < fates.LateStart {
		return
	}
	if why, from := f.LateBy(e); why != "" {
		w.add(from, "until then %s", why)
	}
}

// next says until when a due time without an outcome may start.
func (w *WhyNot) next(f *fates.Fates) {
	next, _, err := f.Due.Next(events.Time(w.At).Go(), 1)
	switch {
	case err != nil || len(next) == 0 || f.Idle() != "":
	case f.Due.At(next[0]).Passed:
		w.add(nil, "later ones were due since, the first at %s, so it merges into the latest of them",
			f.At(events.At(next[0])))
	case f.LateAt(events.Time(w.At)) < f.Due.Now():
	case f.LateAt(events.Time(w.At)) < events.At(next[0]):
		w.add(nil, "it may start until %s, when startingDeadlineSeconds %d is over", f.Seen(f.LateAt(events.Time(w.At))),
			*f.Due.Seen.Deadline)
	default:
		w.add(nil, "if it has not started by %s, it merges into that one", f.At(events.At(next[0])))
	}
}

// none answers for an instant that is not a due time of the CronJob.
func (w *WhyNot) none(f *fates.Fates, v *duetimes.Verdict, at events.Time, who string) {
	if before, first := f.Due.Before(at); before {
		w.add([]explain.Mark{{Record: first.Record, At: first.At}},
			"%s is no due time of %s by the schedule %q that it had when it was seen first, at %s; what it was before is unknown",
			f.At(at), who, f.Due.SeenFirst().Schedule, f.Seen(first.At))
	} else {
		w.add(nil, "%s is no due time of %s", f.At(at), who)
	}
	if ch := f.Due.WasOne(at.Go()); ch != nil {
		w.add(fates.ChangeMarks(ch), "it was one until %s, when it was changed: %s", f.ChangedAt(ch), fates.ChangeText(ch))
	} else if ch := f.Due.BecameOne(at.Go()); ch != nil {
		w.add(fates.ChangeMarks(ch), "by the schedule since %s it would be one: %s", f.ChangedAt(ch), fates.ChangeText(ch))
	}
	var nearest []events.Time
	for _, t := range []time.Time{v.Before, v.After} {
		if !t.IsZero() {
			w.Nearest, nearest = append(w.Nearest, recordjson.Instant(events.At(t))), append(nearest, events.At(t))
		}
	}
	switch len(nearest) {
	case 0:
		if why := f.Idle(); why != "" {
			w.add(nil, "no other one is known: %s", why)
		}
	case 1:
		w.add(nil, "the nearest that is known: %s", f.At(nearest[0]))
	default:
		w.add(nil, "the nearest that are known: %s and %s", f.At(nearest[0]), f.At(nearest[1]))
	}
}
