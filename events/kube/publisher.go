package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Consumer is the name under which the log keeps how far the Events have been published.
const Consumer = "kube-events"

const (
	defaultMaxAge = time.Hour // the API server's own default of how long Events live
	offsetEvery   = 256       // records
)

// Config says what to read and where to publish. Log, Client and Mode are required.
type Config struct {
	Log    store.Log
	Client kubernetes.Interface
	Mode   events.Mode   // in observe mode nothing is published
	MaxAge time.Duration // older records give rise to no Events; 1 hour when it is 0
	Logger *slog.Logger  // nil for the default
}

// Publisher publishes Events. One goroutine at a time may use it.
type Publisher struct {
	log    store.Log
	mode   events.Mode
	maxAge time.Duration
	logger *slog.Logger
	writer *writer
	memory *memory

	through events.Sequence // published or passed over. Invariant: noted offset <= through <= durable
	started bool
}

// New returns a publisher that does nothing until Run or CatchUp.
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
	return &Publisher{
		log: c.Log, mode: c.Mode, maxAge: c.MaxAge, logger: c.Logger,
		writer: newWriter(c.Client.CoreV1(), c.Log.Identity(), c.Logger), memory: newMemory(c.Log),
	}, nil
}

// Run publishes what becomes durable until ctx ends or the log closes, and then returns nil. Any other error is the log's.
func (p *Publisher) Run(ctx context.Context) error {
	if p.mode == events.ModeObserve {
		<-ctx.Done()
		return nil
	}
	err := p.follow(ctx)
	if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
		err = nil // a stop in good order
	}
	return err
}

// follow publishes until an error.
func (p *Publisher) follow(ctx context.Context) error {
	for {
		if err := p.CatchUp(ctx); err != nil {
			return err
		}
		if _, err := p.log.Wait(ctx, p.through); err != nil {
			return err
		}
	}
}

// CatchUp publishes what is durable now and was not published, and notes how far it got. It ends early with ctx's error.
func (p *Publisher) CatchUp(ctx context.Context) error {
	if p.mode == events.ModeObserve {
		return nil
	}
	if err := p.start(); err != nil {
		return err
	}
	noted := p.through
	err := p.read(ctx, &noted)
	if p.through > noted {
		err = errors.Join(err, p.note(&noted))
	}
	if err != nil {
		return fmt.Errorf("publish Kubernetes Events after record %d: %w", p.through, err)
	}
	return nil
}

func (p *Publisher) start() error {
	if p.started {
		return nil
	}
	through, err := p.log.Offset(Consumer)
	if err != nil {
		return fmt.Errorf("read offset of %s: %w", Consumer, err)
	}
	p.through, p.started = through, true
	return nil
}

func (p *Publisher) note(noted *events.Sequence) error {
	if err := p.log.SetOffset(Consumer, p.through); err != nil {
		return fmt.Errorf("note offset of %s: %w", Consumer, err)
	}
	*noted = p.through
	return nil
}

// read publishes from the record after through to the end of the log. When that record is pruned, it goes on with the
// first that is kept: what is no longer kept is too old to be published.
func (p *Publisher) read(ctx context.Context, noted *events.Sequence) error {
	from := p.through + 1
	for {
		err := p.readFrom(ctx, from, noted)
		if !errors.Is(err, store.ErrPruned) || from == 0 {
			return err
		}
		from = 0
	}
}

func (p *Publisher) readFrom(ctx context.Context, from events.Sequence, noted *events.Sequence) error {
	for rec, err := range p.log.Read(ctx, from) {
		if err != nil {
			return err
		}
		if err := p.publish(ctx, &rec); err != nil {
			return err
		}
		p.through = rec.Sequence
		if p.through-*noted >= offsetEvery {
			if err := p.note(noted); err != nil {
				return err
			}
		}
	}
	return nil
}

// publish writes the Events of one record. Its error is the log's or ctx's.
func (p *Publisher) publish(ctx context.Context, rec *events.Record) error {
	if time.Since(rec.Time.Go()) <= p.maxAge {
		if err := p.tell(ctx, rec); err != nil {
			return err
		}
	}
	p.memory.note(rec)
	if f, ok := rec.Facts.(*events.EpochChanged); ok {
		p.writer.identity.Epoch = f.Epoch
	}
	return nil
}

func (p *Publisher) tell(ctx context.Context, rec *events.Record) error {
	var c Context
	var err error
	if name, ok := Ended(rec); ok {
		if c, err = p.context(ctx, rec, name); err != nil {
			return err
		}
	}
	if f, ok := rec.Facts.(*events.JobSeen); ok && f.Managed && f.Deleted == 0 {
		if c.UnknownMode, err = p.memory.unknownMode(ctx, f); err != nil {
			return err
		}
		if c.UnknownMode {
			c.Job = noteOf(rec, f).ref
		}
	}
	for n, e := range Of(rec, c) {
		if err := p.writer.write(ctx, e, n); err != nil {
			return err
		}
	}
	return nil
}

// context finds what the record does not say itself.
func (p *Publisher) context(ctx context.Context, rec *events.Record, name events.CommandName) (Context, error) {
	command, err := p.memory.command(ctx, rec, name)
	if err != nil || command == nil {
		return Context{}, err
	}
	job, err := p.memory.job(ctx, rec)
	if err != nil || job == nil || job.ref.Name == "" { // erased
		return Context{}, err
	}
	c := Context{Job: job.ref, Command: command}
	if w, ok := command.(*events.WriteStatus); ok && w.Change.CompletionTime != 0 {
		if c.Completions, err = p.memory.completions(ctx, job); err != nil {
			return Context{}, err
		}
		if c.Completions != nil && w.Change.Succeeded == nil {
			c.Succeeded, err = p.memory.succeeded(ctx, rec)
		}
	}
	return c, err
}
