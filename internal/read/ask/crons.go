package ask

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/which"
)

// cronJob has the parameter of a question about one CronJob: its name.
type cronJob struct{ object }

func (p *cronJob) read(args []string) error {
	if len(args) == 0 {
		return which.Wrong("say which CronJob: cronjob/NAME")
	}
	if err := p.object.read(args); err != nil {
		return err
	}
	return which.WantCronJob(args, p.Object)
}

// lives returns the streams (records) of all CronJobs with the name, the newest first, and the name. If the user named
// a Job or a pod, the name is that of the CronJob which created the Job.
func (p *cronJob) lives(ctx context.Context, src Source) (lives []events.Stream, name string, err error) {
	return src.finder().CronJobsOf(ctx, p.place, p.Object)
}

// WhyNotParams are the parameters of WhyNot: a CronJob, and the instant that the user asks about.
type WhyNotParams struct {
	cronJob
	text string
	when which.When
}

func (p *WhyNotParams) read(args []string) error {
	if len(args) < 2 {
		return which.Wrong("say which CronJob, and when: cronjob/NAME 2026-01-02T15:04")
	}
	last := len(args) - 1
	if err := p.zones.read(); err != nil {
		return err
	}
	var ok bool
	p.text = args[last]
	if p.when, ok = which.ParseWhen(p.text, p.Zone); !ok {
		return which.Wrong("%q is no time: write 2026-01-02T15:04, 15:04, or 5m for so long ago", p.text)
	}
	return p.cronJob.read(args[:last])
}

// WhyNot is the question why a CronJob started no Job at an instant, or whether it did.
var WhyNot = &Question[WhyNotParams, whynot.WhyNot]{
	name: "why-not", about: "Say what became of one instant of a CronJob", takes: AnInstant,
	new: func() (*WhyNotParams, parameters) {
		p := &WhyNotParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *WhyNotParams) (*whynot.WhyNot, error) {
		lives, _, err := p.lives(ctx, src)
		if err != nil {
			return nil, err
		}
		s, err := src.settle(ctx, p.when)
		if err != nil {
			return nil, err
		}
		at := p.when.Point(s.now, s.end)
		if which.Beyond(at) {
			return nil, which.Wrong("%q lies outside the years that a log knows, 1930 to 2189", p.text)
		}
		src.noteDay("at", p.text, p.when, at, s)
		return whynot.Read(ctx, src.Source, lives, at.Go().UTC().Truncate(time.Second), p.texts)
	},
}

// NextParams are the parameters of Next: a CronJob, and how many of its next due times to list.
type NextParams struct {
	cronJob
	count int
	after string
	from  which.When
}

// mostDue is the highest value of --count, the number of due times to list.
const mostDue = 1000

func (p *NextParams) bind(fs *pflag.FlagSet) {
	p.cronJob.bind(fs)
	fs.IntVar(&p.count, "count", 10, "how many due times")
	fs.StringVar(&p.after, "after", "", "those after this time, such as 2026-01-02T15:04; after now unless given")
}

func (p *NextParams) read(args []string) (err error) {
	if p.count < 1 || p.count > mostDue {
		return which.Wrong("--count %d: must be from 1 to %d", p.count, mostDue)
	}
	if err := p.zones.read(); err != nil {
		return err
	}
	if p.from, err = bound("after", p.after, p.Zone); err != nil {
		return err
	}
	return p.cronJob.read(args)
}

// DueNext is the answer of Next: the next due times of a CronJob. Its JSON changes only by adding fields.
type DueNext struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Schedule  string    `json:"schedule"`
	Zone      string    `json:"zone"`
	Items     []DueTime `json:"items"`
}

// DueTime is a due time in the future.
type DueTime struct {
	Due   time.Time `json:"due"`
	Local string    `json:"local"` // Due in the time zone of the schedule
}

// Next is the question when the schedule of a CronJob is due next.
var Next = &Question[NextParams, DueNext]{
	name: "next", about: "Show when a CronJob is due next, in its zone and in UTC", takes: ACronJob,
	new: func() (*NextParams, parameters) {
		p := &NextParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *NextParams) (*DueNext, error) {
		lives, _, err := p.lives(ctx, src)
		if err != nil {
			return nil, err
		}
		src.finder().NoteOlder(lives[1:])
		cron, unread := duetimes.Newest(ctx, src.Source, lives[0], 0)
		if unread != nil && !(src.Beside(unread) && cron != nil && cron.Seen != nil) {
			// No version of the CronJob could be read, so its schedule is unknown. (If one could be read, damage of the
			// log does not matter: its schedule is used.)
			return nil, unread
		}
		begin := cron.DueAfter(src.Clock())
		if p.after != "" {
			s, err := src.settle(ctx, p.from)
			if err != nil {
				return nil, err
			}
			at := p.from.Point(s.now, s.end)
			if which.Beyond(at) {
				return nil, which.Wrong("--after=%s lies outside the years that a log knows, 1930 to 2189", p.after)
			}
			begin = at.Go()
		}
		due, zone, err := cron.Next(begin, p.count)
		if err != nil {
			return nil, fmt.Errorf("cronjob/%s: %w", cron.Ref.Name, err)
		}
		if note := fates.Idle(cron); note != "" {
			src.note("%s", note)
		}
		out := &DueNext{
			Namespace: cron.Ref.Namespace, Name: cron.Ref.Name, Schedule: cron.Seen.Schedule, Zone: zone.String(), Items: []DueTime{},
		}
		for _, t := range due {
			out.Items = append(out.Items, DueTime{t.UTC(), t.In(zone).Format(time.RFC3339)})
		}
		return out, unread
	},
}
