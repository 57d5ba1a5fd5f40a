package explain

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// WhyNot says what became of one instant of a CronJob. Its JSON changes only by growing.
type WhyNot struct {
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	UID       string             `json:"uid"`
	At        recordjson.Instant `json:"at"`

	Due  bool             `json:"due"`            // it is a past, present or future due time
	Tick *history.Tick    `json:"tick,omitempty"` // of a due time with a fate
	Open *history.OpenDue `json:"open,omitempty"` // of a due time that is held back
	// PassedOver are the times between the instant and its fate in which the CronJob's namespace was over its log
	// budget.
	PassedOver []history.Passed `json:"passedOver,omitempty"`
	// Unrecorded is the number of versions of the CronJob and its Jobs in that time that were seen and not recorded.
	Unrecorded uint64 `json:"unrecordedVersions,omitempty"`

	Nearest   []recordjson.Instant `json:"nearest,omitempty"` // the nearest due times, if the instant is none
	Sentences []Sentence           `json:"sentences"`
}

// ReadWhyNot reads what became of the instant t of the CronJob that existed then. lives are the streams of the CronJobs
// with the name, the newest first. Sentences have times in zone, and due times also in the zone of the schedule.
func ReadWhyNot(ctx context.Context, src history.Source, lives []events.Stream, t time.Time, zone words.Zone) (*WhyNot, error) {
	at := events.At(t)
	s, due, before, err := lifeAt(ctx, src, lives, at)
	if err != nil {
		return nil, err
	}
	f := &fates{due: due, zone: zone, location: due.Location(), dates: true, before: before}
	if f.gaps, err = history.GapsAt(ctx, src, at); err != nil && !src.Beside(err) {
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
		w.add(nil, "%s: another CronJob has its name since", f.goneText())
	}
	passed, err := history.PassedSince(ctx, src, at)
	if err != nil && !src.Beside(err) {
		return nil, fmt.Errorf("look for what was passed over: %w", err)
	}
	w.missing(f, passed, &v, at)
	return w, nil
}

// lifeAt reads the CronJob that existed at an instant. If none did, it reads the next one as due, and the one before as
// before.
func lifeAt(ctx context.Context, src history.Source, lives []events.Stream, at events.Time) (s events.Stream, due, before *duetimes.CronJob, err error) {
	for i := range lives {
		read, err := duetimes.Around(ctx, src, lives[i], at)
		switch {
		case err != nil && i > 0:
			src.Beside(err)
			return s, due, nil, nil // the newer one answers
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

func (w *WhyNot) add(from []Mark, format string, args ...any) {
	w.Sentences = append(w.Sentences, say(from, format, args...))
}

func (w *WhyNot) answer(f *fates, v duetimes.Verdict, at events.Time) {
	who := "cronjob/" + w.Name
	w.Due = v.Due()
	switch {
	case v.Entry != nil && v.Entry.Record == 0:
		w.computed(f, &v, at, who)
	case v.Entry != nil:
		w.told(f, &v, at, who)
	case v.Open:
		w.Open = f.due.Open()
		w.add(nil, "%s is a due time of %s, and has not started yet: %s", f.at(at), who, w.Open.Says)
		w.held(f, at)
		w.next(f)
	case v.Future && f.idle() != "":
		w.add(nil, "%s is a due time of %s by its schedule %q, but %s", f.at(at), who, f.due.Seen.Schedule, f.idle())
	case v.Passed:
		w.passed(f, &v, at, who)
	case v.Future:
		w.add(nil, "%s is a due time of %s by its schedule %q, and nothing was decided about it yet", f.at(at), who, f.due.Seen.Schedule)
	case v.Unseen:
		w.unseen(f, at, who)
	case f.due.Told != 0 && at <= f.due.Told:
		w.add(nil, "what became of %s is unknown: the records of then are no longer kept", f.at(at))
	case f.due.Seen != nil && at < f.due.Seen.Created && f.before != nil && f.before.Gone != 0:
		w.add(nil, "%s was no due time of %s: there was none of that name: one was deleted, seen at %s, and the next was created at %s",
			f.at(at), who, f.seen(f.before.Gone), f.seen(f.due.Seen.Created))
	case f.due.Seen != nil && at < f.due.Seen.Created:
		w.add(nil, "%s was no due time of %s: it was created at %s", f.at(at), who, f.seen(f.due.Seen.Created))
	case f.due.Gone != 0 && at > f.due.Gone:
		w.afterEnd(f, at, who)
	default:
		w.none(f, &v, at, who)
	}
}

// unseen answers for an instant that was due before the first record of the CronJob.
func (w *WhyNot) unseen(f *fates, at events.Time, who string) {
	_, first := f.due.Before(at)
	seen, m := f.due.SeenFirst(), []Mark{{first.Record, first.At}}
	w.add(m, "%s was a due time of %s by the schedule %q that it had when it was seen first, at %s", f.at(at), who, seen.Schedule, f.seen(first.At))
	if at == seen.LastSchedule {
		w.add(m, "it was started before that: status.lastScheduleTime says so")
		return
	}
	w.add(m, "what became of it is unknown: it was not watched before that; the newest that was started is %s, by status.lastScheduleTime", f.at(seen.LastSchedule))
}

// afterEnd answers for an instant after the end of the newest CronJob of the name. Another one may have existed in a
// gap of the watch.
func (w *WhyNot) afterEnd(f *fates, at events.Time, who string) {
	g := f.gapAt(at)
	switch {
	case f.due.Blind != 0 && at >= f.due.Blind:
		w.add([]Mark{{f.due.BlindBy, f.due.Blind}}, "whether %s was a due time of %s is unknown: %s, and since %s no controller records CronJobs", f.at(at), who, f.goneText(), f.seen(f.due.Blind))
	case g != nil && events.Time(g.From) >= f.due.Gone:
		end := "on"
		if g.Until != 0 {
			end = "to " + f.seen(events.Time(g.Until))
		}
		w.add(gapMarks(g), "whether %s was a due time of %s is unknown: %s, and it was not watched from %s %s, %s",
			f.at(at), who, f.goneText(), f.seen(events.Time(g.From)), end, gapWhy(g))
	default:
		w.add(nil, "%s was no due time of %s: %s", f.at(at), who, f.goneText())
	}
}

// toldWithin exceeds the time between a version that is dropped and the record that counts it: a minute, and a busy
// turn.
const toldWithin = 5 * time.Minute

// missing says what may be missing between the instant and its fate because it was not recorded.
func (w *WhyNot) missing(f *fates, passed *history.PassedOver, v *duetimes.Verdict, at events.Time) {
	if v.Future && !v.Passed {
		return
	}
	until := events.Time(0) // it has no fate yet
	switch {
	case v.Entry != nil && v.Entry.Record != 0:
		until = v.Entry.At
	case v.Entry == nil && !v.Open && !v.After.IsZero():
		until = events.At(v.After)
	}
	var unrecorded unrecorded
	for _, u := range f.due.Unrecorded {
		if u.At >= at && (until == 0 || u.At <= until.Add(toldWithin)) {
			unrecorded.add(u.Versions, Mark{u.Record, u.At})
		}
	}
	w.PassedOver, w.Unrecorded = passed.Touching(w.Namespace, false, at, until), unrecorded.versions
	for i := range w.PassedOver {
		w.Sentences = append(w.Sentences, passedText(&w.PassedOver[i], f.seen))
	}
	w.Sentences = append(w.Sentences, unrecorded.sentences("the CronJob and its Jobs")...)
	if len(w.PassedOver) == 0 && w.Unrecorded == 0 {
		return
	}
	if e := v.Entry; e == nil || e.Job == "" {
		w.add(nil, "so a Job may have come and gone then without a record")
	}
}

// told answers for an instant with a recorded fate.
func (w *WhyNot) told(f *fates, v *duetimes.Verdict, at events.Time, who string) {
	e := v.Entry
	item := history.TickOf(&e.Tick, e.Record)
	in := ""
	if n, ok := f.due.Count(e); ok {
		item.Count, in = n, ": "+words.Count(n, "due time")+" in all"
	}
	w.Tick = &item
	text, from := f.inWhole(func() (string, []Mark) { return f.becameAt(e, at) })
	if !isDue(e) {
		w.Due = false
		w.add(from, "%s: no due time of %s, but a run: %s", f.at(at), who, text)
		return
	}
	w.add(from, "%s was a due time of %s: %s", f.at(at), who, text)
	if e.First != e.Last {
		w.add([]Mark{{e.Record, e.At}}, "so were the others from %s to %s%s", f.short(e.First), f.short(e.Last), in)
	} else if e.Job != "" || e.Fate == events.TickStarted {
		w.held(f, at)
		w.suspended(f, e)
	}
	if e.Into == 0 {
		return
	}
	for i := range f.due.Entries {
		if later := &f.due.Entries[i]; isDue(later) && later.First <= e.Into && e.Into <= later.Last && later.Record >= e.Record {
			text, from := f.inWhole(func() (string, []Mark) { return f.became(later) })
			w.add(from, "that one, %s: %s", f.at(e.Into), text)
			return
		}
	}
	if open := f.due.Open(); open != nil && events.Time(open.At) == e.Into {
		w.add([]Mark{{events.Sequence(open.Record), events.Time(open.Since)}}, "that one, %s, has not started yet: %s", f.at(e.Into), open.Says)
	}
}

// computed answers for an instant without a record, from the observations.
func (w *WhyNot) computed(f *fates, v *duetimes.Verdict, at events.Time, who string) {
	text, from := f.inWhole(func() (string, []Mark) { return f.becameAt(v.Entry, at) })
	if v.Entry.Fate == 0 && v.Open {
		w.add(from, "%s is a due time of %s: %s", f.at(at), who, text)
		w.Open = f.due.Open()
		w.next(f)
		return
	}
	w.add(from, "%s was a due time of %s: %s", f.at(at), who, text)
	if v.Entry.Fate == 0 {
		w.add(nil, "a later one was due since, so it does not start any more")
		return
	}
	item := history.TickOf(&v.Entry.Tick, 0)
	if n, ok := f.due.Count(v.Entry); ok {
		item.Count = n
	}
	w.Tick = &item
}

// becameAt says what became of one due time of an entry.
func (f *fates) becameAt(e *duetimes.Entry, at events.Time) (text string, from []Mark) {
	if e.Observed {
		return f.becameElsewhere(e, at, at)
	}
	return f.became(e)
}

// passed answers for a past instant at which nothing has started. It gets its fate together with the other due times of
// its minute.
func (w *WhyNot) passed(f *fates, v *duetimes.Verdict, at events.Time, who string) {
	w.add(nil, "%s was a due time of %s by its schedule %q, and nothing has started at it so far", f.at(at), who, f.due.SeenAt(at).Schedule)
	open := f.due.Open()
	switch {
	case v.Run != nil:
		w.add([]Mark{{v.Run.Record, v.Run.At}}, "the Job of %s has the name that its Job would have, %s", f.at(v.Run.Last), v.Run.Name)
	case v.Hold != events.NotHeld && open != nil:
		w.add([]Mark{{events.Sequence(open.Record), events.Time(open.Since)}}, "the one of %s is held back, and so is it: %s", f.at(events.Time(open.At)), open.Says)
	}
	w.add(nil, "due times of one minute at which nothing starts get their fates together, in the next minute or when something happens")
}

// held says what held a due time back, step by step.
func (w *WhyNot) held(f *fates, at events.Time) {
	for i := range f.due.Holds {
		if h := &f.due.Holds[i]; h.Due == at {
			w.add([]Mark{{h.Record, h.At}}, "from %s on it was held back: %s", f.seen(h.At), f.holdText(h.By, h.Active))
		}
	}
	for i := range f.due.Refusals {
		if x := &f.due.Refusals[i]; x.Due == at {
			w.add([]Mark{{x.First, x.From}, {x.Last, x.Until}}, "from %s to %s %s", f.seen(x.From), f.seen(x.Until), refusalText(x))
		}
	}
}

// suspended says that a due time which this controller started late came while the CronJob was suspended. No record
// shows a hold then: nothing is decided about a suspended CronJob.
func (w *WhyNot) suspended(f *fates, e *duetimes.Entry) {
	if len(w.Sentences) > 1 || e.Observed || e.Late < lateStart {
		return
	}
	if why, from := f.lateBy(e); why != "" {
		w.add(from, "until then %s", why)
	}
}

// lateAt returns until when a due time may start by the current startingDeadlineSeconds; the end of time if unset.
func (f *fates) lateAt(due events.Time) events.Time {
	if d := f.due.Seen.Deadline; d != nil {
		return due.Add(seconds(*d))
	}
	return math.MaxInt64
}

// next says until when an open due time may start.
func (w *WhyNot) next(f *fates) {
	next, _, err := f.due.Next(events.Time(w.At).Go(), 1)
	switch {
	case err != nil || len(next) == 0 || f.idle() != "":
	case f.due.At(next[0]).Passed:
		w.add(nil, "later ones were due since, the first at %s, so it merges into the latest of them", f.at(events.At(next[0])))
	case f.lateAt(events.Time(w.At)) < f.due.Now():
	case f.lateAt(events.Time(w.At)) < events.At(next[0]):
		w.add(nil, "it may start until %s, when startingDeadlineSeconds %d is over", f.seen(f.lateAt(events.Time(w.At))), *f.due.Seen.Deadline)
	default:
		w.add(nil, "if it has not started by %s, it merges into that one", f.at(events.At(next[0])))
	}
}

// none answers for an instant that is not a due time.
func (w *WhyNot) none(f *fates, v *duetimes.Verdict, at events.Time, who string) {
	if before, first := f.due.Before(at); before {
		w.add([]Mark{{first.Record, first.At}}, "%s is no due time of %s by the schedule %q that it had when it was seen first, at %s; what it was before is unknown",
			f.at(at), who, f.due.SeenFirst().Schedule, f.seen(first.At))
	} else {
		w.add(nil, "%s is no due time of %s", f.at(at), who)
	}
	if ch := f.due.WasOne(at.Go()); ch != nil {
		w.add(changeMarks(ch), "it was one until %s, when it was changed: %s", f.changedAt(ch), changeText(ch))
	} else if ch := f.due.BecameOne(at.Go()); ch != nil {
		w.add(changeMarks(ch), "by the schedule since %s it would be one: %s", f.changedAt(ch), changeText(ch))
	}
	var nearest []events.Time
	for _, t := range []time.Time{v.Before, v.After} {
		if !t.IsZero() {
			w.Nearest, nearest = append(w.Nearest, recordjson.Instant(events.At(t))), append(nearest, events.At(t))
		}
	}
	switch len(nearest) {
	case 0:
		if why := f.idle(); why != "" {
			w.add(nil, "no other one is known: %s", why)
		}
	case 1:
		w.add(nil, "the nearest that is known: %s", f.at(nearest[0]))
	default:
		w.add(nil, "the nearest that are known: %s and %s", f.at(nearest[0]), f.at(nearest[1]))
	}
}

// goneText says when the CronJob was deleted, as far as that was seen.
func (f *fates) goneText() string {
	if f.due.EndUnseen {
		return "it was deleted before " + f.seen(f.due.Gone) + ", which no record tells"
	}
	return "it was deleted, seen at " + f.seen(f.due.Gone)
}

// changedAt returns when the spec was changed, as far as that was seen.
func (f *fates) changedAt(ch *duetimes.Change) string {
	if ch.After.Found {
		return "a time before " + f.seen(ch.At) + ", when no controller watched"
	}
	return f.seen(ch.At)
}

// idle is Idle of the CronJob.
func (f *fates) idle() string { return Idle(f.due) }

// Idle says why no Job starts at the next due times of a CronJob; empty if Jobs start.
func Idle(c *duetimes.CronJob) string {
	switch {
	case c.Gone != 0:
		return "the CronJob is deleted"
	case c.Seen == nil:
		return ""
	case c.Seen.Deleted != 0:
		return "the CronJob is being deleted, so nothing starts any more"
	case c.Seen.Suspend:
		return "the CronJob is suspended, so nothing starts"
	}
	return ""
}
