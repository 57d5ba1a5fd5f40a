package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/store"
)

// Consumer is the name under which the log stores how far Events are published.
const Consumer = "kube-events"

const (
	defaultMaxAge = time.Hour // the API server's default lifetime of Events
	offsetEvery   = 256       // number of records after which the progress is stored in the log
)

// Config configures a Publisher. Log, Client and Mode are required.
type Config struct {
	Log    store.Log
	Client kubernetes.Interface
	Mode   events.Mode   // nothing is published in ModeObserve
	Gangs  bool          // the controller makes Workloads (events.Settings.GangScheduling)
	MaxAge time.Duration // skip older records; 0 means 1 hour
	Logger *slog.Logger  // nil for the default
}

// Publisher publishes the Kubernetes Events of a log's records. One goroutine at a time may use it.
type Publisher struct {
	mode   events.Mode
	gangs  bool
	maxAge time.Duration
	writer *writer
	memory *memory

	cursor   follow.Cursor // after the newest record that was published or skipped
	offset   follow.Offset
	noted    events.Sequence // progress that the log has stored. Invariant: noted < cursor.Next
	jobs     follow.Jobs
	commands follow.Commands
	started  bool
}

// New returns a Publisher that does nothing until Run or CatchUp. It returns an error when a required field is missing.
func New(c Config) (*Publisher, error) {
	switch {
	case c.Log == nil:
		return nil, errors.New("events: no log")
	case c.Client == nil:
		return nil, errors.New("events: no client")
	case c.Mode == 0:
		return nil, errors.New("events: no mode")
	case c.MaxAge < 0:
		return nil, fmt.Errorf("events: negative age %s", c.MaxAge)
	}
	if c.MaxAge == 0 {
		c.MaxAge = defaultMaxAge
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	p := &Publisher{
		mode: c.Mode, gangs: c.Gangs, maxAge: c.MaxAge,
		writer: newWriter(c.Client, c.Log.Identity(), c.Logger), memory: newMemory(c.Log),
		offset: follow.Offset{Log: c.Log, Consumer: Consumer}, jobs: follow.Jobs{Log: c.Log}, commands: follow.Commands{Log: c.Log},
	}
	p.cursor = follow.Cursor{
		Log: c.Log, Take: p.take, Idle: func(context.Context) error { return p.note() },
		Pruned: func(events.Sequence, events.Sequence) {}, // pruned records are too old to be published
	}
	return p, nil
}

// Run publishes the Events of records that become durable, until ctx ends or the log closes, and then returns nil.
// Other errors come from the log.
func (p *Publisher) Run(ctx context.Context) error {
	if p.mode == events.ModeObserve {
		<-ctx.Done()
		return nil
	}
	return follow.Orderly(ctx, p.follow(ctx, p.goOn))
}

// CatchUp publishes the Events of all durable records that were not published yet, and stores in the log how far it
// got. It returns ctx's error if that ends first.
func (p *Publisher) CatchUp(ctx context.Context) error {
	if p.mode == events.ModeObserve {
		return nil
	}
	return p.follow(ctx, func(ctx context.Context) error {
		if err := p.cursor.CatchUp(ctx); err != nil {
			return err
		}
		if err := p.writer.settleAll(ctx); err != nil {
			return err
		}
		return p.note()
	})
}

// goOn publishes records, and counts of repeated Events that have waited long enough. It returns only with an error.
func (p *Publisher) goOn(ctx context.Context) error {
	for {
		if err := p.cursor.CatchUp(ctx); err != nil {
			return err
		}
		if err := p.await(ctx); err != nil {
			return err
		}
		if err := p.writer.settleDue(ctx); err != nil {
			return err
		}
	}
}

// await returns when there are new records, or a count of a repeated Event has waited long enough.
func (p *Publisher) await(ctx context.Context) error {
	bound := ctx
	if due, ok := p.writer.waiting.due(); ok {
		var cancel context.CancelFunc
		bound, cancel = context.WithDeadline(ctx, due)
		defer cancel()
	}
	_, err := p.cursor.Log.Wait(bound, max(p.cursor.Next, 1)-1)
	if err != nil && bound.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// follow calls on. At the first call, it first reads from the log how far Events are published. If on fails, follow
// still stores that in the log.
func (p *Publisher) follow(ctx context.Context, on func(context.Context) error) error {
	if !p.started {
		through, err := p.offset.Load()
		if err != nil {
			return err
		}
		p.cursor.Next, p.noted, p.started = through+1, through, true
	}
	if err := on(ctx); err != nil {
		return fmt.Errorf("publish Kubernetes Events from record %d on: %w", p.cursor.Next, errors.Join(err, p.note()))
	}
	return nil
}

// note stores in the log how far Events are published: through the last record without a count that waits to be sent.
func (p *Publisher) note() error {
	through := p.cursor.Next - 1
	if first, ok := p.writer.waiting.oldest(); ok {
		through = first - 1
	}
	if through <= p.noted {
		return nil
	}
	err := p.offset.Note(through)
	if err == nil {
		p.noted = through
	}
	return err
}

// take publishes the Events of one record, and from time to time stores the progress.
func (p *Publisher) take(ctx context.Context, rec *events.Record) error {
	if rec.Sequence-p.noted > offsetEvery {
		if err := p.note(); err != nil {
			return err
		}
	}
	if err := p.writer.settleDue(ctx); err != nil {
		return err
	}
	return p.publish(ctx, rec)
}

// publish writes the Events of one record. Errors come from the log or from ctx.
func (p *Publisher) publish(ctx context.Context, rec *events.Record) error {
	if time.Since(rec.Time.Go()) <= p.maxAge {
		if err := p.tell(ctx, rec); err != nil {
			return err
		}
	}
	p.memory.note(rec)
	p.commands.Shown(rec)
	p.jobs.Shown(rec)
	if f, ok := rec.Facts.(*events.EpochChanged); ok {
		p.writer.identity.Epoch = f.Epoch
	}
	return nil
}

func (p *Publisher) tell(ctx context.Context, rec *events.Record) error {
	c, err := p.context(ctx, rec)
	if err != nil {
		return err
	}
	if f, ok := rec.Facts.(*events.JobSeen); ok && f.Managed && f.Deleted == 0 && p.mode.Manages(f.ManagedBy) {
		if c.UnknownMode, err = p.memory.unknownMode(ctx, f); err != nil {
			return err
		}
		if c.GangsOff, err = p.gangsOff(ctx, rec, f); err != nil {
			return err
		}
		if err := p.name(ctx, rec, &c, c.UnknownMode || c.GangsOff); err != nil {
			return err
		}
	}
	if f, ok := rec.Facts.(*events.GroupSeen); ok {
		if err := p.name(ctx, rec, &c, f.Delegated); err != nil {
			return err
		}
	}
	if rec.Stream.Kind == events.StreamCronJob && c.Job.Name == "" {
		return nil // the record leads to no Event, or its CronJob's name was erased
	}
	for n, e := range Of(rec, c) {
		if err := p.writer.tell(ctx, e, n); err != nil {
			return err
		}
	}
	return nil
}

// name sets c.Job to the Job of the record, unless c.Job has a name. It does so only if told is true: the record leads
// to an Event.
func (p *Publisher) name(ctx context.Context, rec *events.Record, c *Context, told bool) (err error) {
	if told && c.Job.Name == "" {
		c.Job, err = p.jobs.Of(ctx, rec)
	}
	return err
}

// gangsOff reports whether a new Job has a spec.scheduling that the controller ignores.
func (p *Publisher) gangsOff(ctx context.Context, rec *events.Record, f *events.JobSeen) (bool, error) {
	if p.gangs || rec.Kind != events.KindJobAdded {
		return false, nil
	}
	s, err := p.memory.spec(ctx, f.SpecAt)
	return s.scheduling, err
}

// context returns what the function Of needs to know besides the record.
func (p *Publisher) context(ctx context.Context, rec *events.Record) (Context, error) {
	if rec.Stream.Kind == events.StreamCronJob {
		if !tells(rec) {
			return Context{}, nil
		}
		job, err := p.jobs.Of(ctx, rec)
		return Context{Job: job}, err
	}
	command, err := p.command(ctx, rec)
	if err != nil || command == nil {
		return Context{}, err
	}
	job, err := p.jobs.Of(ctx, rec)
	if err != nil || job.Name == "" { // the Job's name was erased from the log
		return Context{}, err
	}
	c := Context{Job: job, Command: command}
	w, ok := command.(*events.WriteStatus)
	if ok && w.Change.Ends() {
		if c.Verdict, err = p.memory.verdict(ctx, rec); err != nil {
			return Context{}, err
		}
	}
	if ok && w.Change.CompletionTime != 0 {
		if c.Completions, err = p.memory.completions(ctx, rec); err != nil {
			return Context{}, err
		}
		if c.Completions != nil && w.Change.Succeeded == nil {
			c.Succeeded, err = p.memory.succeeded(ctx, rec)
		}
	}
	return c, err
}

// command returns the command whose outcome the record reports; nil when that leads to no Event, or was already
// reported. It reads the full command only for a status write; of other commands the kind is enough.
func (p *Publisher) command(ctx context.Context, rec *events.Record) (events.Command, error) {
	switch asked := follow.TypeOf(rec); {
	case asked == 0 || asked == events.CommandWriteStatus: // 0: the record does not name the kind of command
		if f, ok := rec.Facts.(*events.CommandEnded); ok && f.Ending == events.Withdrawn {
			return nil, nil
		}
		return p.commands.Ended(ctx, rec)
	case asked > events.MaxCommandKind || tellings[asked] == (telling{}):
		return nil, nil
	default:
		return asked.Traits().New(), nil
	}
}
