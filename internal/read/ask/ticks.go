package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TicksParams are the parameters of Ticks: a CronJob, and which due times to list.
type TicksParams struct {
	cronJob
	at     Point
	span   Span
	tail   int
	missed bool
}

// usualTicks is how many due times an answer has, unless --tail is set. There may be many: a CronJob that runs each
// minute has half a million due times in a year.
const usualTicks = 500

func (p *TicksParams) bind(fs *pflag.FlagSet) {
	p.cronJob.bind(fs)
	p.at.Bind(fs, "the answer")
	p.span.BindSince(fs, "only due times from this time on")
	fs.IntVar(&p.tail, "tail", usualTicks, "only the last so many lines; 0 for all")
	fs.BoolVar(&p.missed, "missed", false, "only due times for which no Job was started")
}

func (p *TicksParams) read(args []string) error {
	if err := cmp.Or(NotNegative("tail", p.tail), p.zones.read()); err != nil {
		return err
	}
	return cmp.Or(p.at.Read(p.Zone), p.span.Read(p.Zone), p.cronJob.read(args))
}

// Ticks is the question what became of each due time of a CronJob: started, too late, refused, and so on.
var Ticks = &Question[TicksParams, DueTicks]{
	name: "ticks", about: "Show what became of each due time of a CronJob", takes: ACronJob,
	new: func() (*TicksParams, parameters) {
		p := &TicksParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *TicksParams) (*DueTicks, error) {
		lives, name, err := p.lives(ctx, src)
		if err != nil {
			return nil, err
		}
		since, _, err := p.span.In(ctx, src)
		if err != nil {
			return nil, err
		}
		stream, through, now, err := p.life(ctx, src, lives, name)
		if err != nil {
			return nil, err
		}
		parts, unread := p.parts(ctx, src, stream, since, through, now)
		if unread != nil && !src.Beside(unread) || len(parts) == 0 {
			return nil, unread
		}
		answer := p.chosen(parts, since)
		if err := answer.why(ctx, src, p.texts); err != nil {
			return nil, err
		}
		if len(answer.Items) == 0 && answer.Due == nil {
			if unread != nil {
				// If nothing could be read, return the error alone: an empty list would say that there were no due
				// times.
				return nil, unread
			}
			if answer.UID == "" {
				return nil, which.Unknown("the log knows no %s", words.Clean(stream.String()))
			}
		}
		if err := answer.missing(ctx, src, parts, since); err != nil {
			return nil, err
		}
		src.finder().NoteLives(ctx, stream, answer.Namespace, answer.Name)
		answer.OtherLives = src.finder().Lives(ctx, stream, answer.Namespace, answer.Name)
		return answer, unread
	},
}

// DueTicks is the answer of Ticks: due times of a CronJob and what became of each. Its JSON changes only by adding
// fields.
type DueTicks struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	UID       string           `json:"uid"`
	Items     []history.Tick   `json:"items"`
	Due       *history.OpenDue `json:"due,omitempty"` // due time that is undecided: neither started nor skipped
	// Earlier is set if there are due times before the first item. They are not in the answer.
	Earlier bool `json:"earlier,omitempty"`
	// PassedOver lists times since the first item in which the CronJob's namespace was over its log budget (how much it
	// may write an hour). Jobs may have come and gone then without a record.
	PassedOver []history.Passed `json:"passedOver,omitempty"`
	// Unrecorded is how many versions of the CronJob and its Jobs got no record, since the first item.
	Unrecorded uint64 `json:"unrecordedVersions,omitempty"`
	// OtherLives lists the other CronJobs that had the same name, the newest first.
	OtherLives []which.Life `json:"otherLives,omitempty"`

	entries []tickOf // for each of Items, the entry that it was made from
}

// life chooses the CronJob that existed at the point --at, from lives, the streams (records) of all CronJobs with the
// name. It returns its stream, and the record and time of the point. Without --at it returns the newest CronJob, 0 and
// 0.
func (p *TicksParams) life(
	ctx context.Context, src Source, lives []events.Stream, name string,
) (s events.Stream, through events.Sequence, now events.Time, err error) {
	if !p.at.Given() {
		return lives[0], 0, 0, nil
	}
	at, err := p.at.In(ctx, src)
	if err != nil {
		return s, 0, 0, err
	}
	s, job, err := src.finder().LifeAt(ctx, lives, name, at)
	if job.UID == "" {
		return s, 0, 0, err
	}
	src.asOf(job.AsOf)
	// LifeAt may have returned damage of the log as err. Drop it here: the caller reads the same records next, and
	// meets the damage again.
	return s, events.Sequence(job.AsOf.Sequence), events.Time(job.AsOf.Time), nil
}

// missing sets PassedOver (times over the log budget) and Unrecorded (versions without a record) for the time that the
// answer covers: from its first due time on, but not before since.
func (a *DueTicks) missing(ctx context.Context, src Source, parts []*duetimes.CronJob, since events.Time) error {
	if len(a.Items) > 0 {
		since = max(since, events.Time(a.Items[0].First))
	}
	passed, err := history.PassedSince(ctx, src.Source, since)
	if err != nil && !src.Beside(err) {
		return fmt.Errorf("look for what was passed over: %w", err)
	}
	a.PassedOver = passed.Touching(a.Namespace, false, since, 0)
	for _, part := range parts {
		for _, u := range part.Unrecorded {
			if u.At >= since {
				a.Unrecorded += u.Versions
			}
		}
	}
	return nil
}

// parts reads the records of the CronJob with the wanted due times, up to record through and time now (0 and 0 mean the
// end of the log). If the log is damaged there, it returns several parts: one for each stretch without damage.
func (p *TicksParams) parts(
	ctx context.Context, src Source, s events.Stream, since events.Time, through events.Sequence, now events.Time,
) ([]*duetimes.CronJob, error) {
	var cronJob *duetimes.CronJob
	var err error
	switch {
	case through != 0:
		from := events.Sequence(0)
		if p.tail > 0 && !p.missed && since == 0 {
			if from, err = duetimes.Before(ctx, src.Source, s, p.tail+1, through); err != nil && !src.Beside(err) {
				return nil, err
			}
		}
		cronJob, unread := duetimes.ReadSpan(ctx, src.Source, s, duetimes.Span{From: from, Through: through, Now: now})
		if cronJob == nil {
			return nil, errors.Join(err, unread)
		}
		return []*duetimes.CronJob{cronJob}, errors.Join(err, unread)
	case p.tail > 0 && !p.missed && since == 0:
		cronJob, err = duetimes.Newest(ctx, src.Source, s, p.tail+1)
	case since != 0:
		cronJob, err = duetimes.Since(ctx, src.Source, s, since)
	default:
		return duetimes.Parts(ctx, src.Source, s)
	}
	if src.Beside(err) {
		return duetimes.Parts(ctx, src.Source, s)
	}
	return []*duetimes.CronJob{cronJob}, err
}

// tickOf is a due time of the answer, and the part of the CronJob's records in which it was found.
type tickOf struct {
	of *duetimes.CronJob
	*duetimes.Entry
}

// chosen builds the answer from the wanted due times of all parts. The CronJob's name and its undecided due time come
// from the last part.
func (p *TicksParams) chosen(parts []*duetimes.CronJob, since events.Time) *DueTicks {
	out := &DueTicks{Items: []history.Tick{}}
	for _, part := range parts {
		if part.Ref.Name != "" {
			out.Namespace, out.Name, out.UID = part.Ref.Namespace, part.Ref.Name, string(part.Ref.UID)
		}
		told, untold := part.Entries, part.Untold()
		for i := range told {
			out.entries = append(out.entries, tickOf{part, &told[i]})
		}
		for i := range untold {
			if untold[i].Fate != 0 {
				out.entries = append(out.entries, tickOf{part, &untold[i]})
			}
		}
		out.Due = part.Open()
		if part.Cut {
			out.Due = nil
		}
	}
	out.entries = slices.DeleteFunc(out.entries, func(e tickOf) bool { return e.Last < since || p.missed && e.Job != "" })
	if p.tail > 0 && len(out.entries) > p.tail {
		out.entries, out.Earlier = out.entries[len(out.entries)-p.tail:], true
	}
	for _, e := range out.entries {
		item := history.TickOf(&e.Tick, e.Record)
		if n, ok := e.of.Count(e.Entry); ok {
			item.Count = n
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// mostWhy limits why: it searches the causes of the newest 5000 due times only. Each search reads all that delayed the
// CronJob, so more would be slow.
const mostWhy = 5_000

// why adds to each due time that did not start the reason.
func (a *DueTicks) why(ctx context.Context, src Source, zone words.Zone) error {
	gaps, err := history.AllGaps(ctx, src.Source)
	if err != nil && !src.Beside(err) {
		return fmt.Errorf("look for times in which no controller watched: %w", err)
	}
	for i := max(0, len(a.entries)-mostWhy); i < len(a.entries); i++ {
		a.Items[i].Why = fates.TickWhy(a.entries[i].of, a.entries[i].Entry, gaps, zone)
	}
	return nil
}
