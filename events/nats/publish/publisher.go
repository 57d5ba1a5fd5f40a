package publish

import (
	"context"
	"errors"
	"fmt"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/store"
)

// Publisher publishes a log. Run may be called once.
type Publisher struct {
	Config
	offset follow.Offset
	jobs   follow.Jobs
	state  state
	conn   *natsgo.Conn
	js     jetstream.JetStream
	broken chan struct{} // has a token when the connection broke or the server complained
	known  bool          // the session before ended with errKnown; Run owns it
}

// New returns a publisher that does nothing until Run. What is wrong on this machine is an error here; what is wrong
// with the server shows in Status.
func New(c Config) (*Publisher, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	offset := follow.Offset{Log: c.Log, Consumer: Consumer}
	through, err := offset.Load()
	if err != nil {
		return nil, err
	}
	if c.Dial.Name == "" {
		c.Dial.Name = "jobledger/" + c.Cluster
	}
	p := &Publisher{Config: c, offset: offset, jobs: follow.Jobs{Log: c.Log}, broken: make(chan struct{}, 1)}
	p.state.init(&p.Config, through)
	return p, nil
}

// Run publishes what becomes durable until ctx ends or the log closes, and then returns nil. Nothing that NATS does
// ends it, nor does a log that cannot be read, which is for others to act on; its error is that of a connection that
// can never be.
func (p *Publisher) Run(ctx context.Context) error {
	if err := p.connect(); err != nil {
		return err
	}
	defer p.conn.Close()
	told := false
	for failures := 0; ; {
		before := p.state.acked()
		err := p.session(ctx, failures > 0)
		if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
			p.state.end()
			_ = p.offset.Note(p.state.acked()) // less to look up for the next start; the log may be closed
			return nil
		}
		if p.state.acked() > before {
			failures = 0
		}
		p.state.trouble(err)
		if diverged := (*DivergedError)(nil); errors.As(err, &diverged) && !told {
			told = true
			p.Diverged(diverged)
		}
		dial.Wait(ctx, dial.Pause(failures, firstPause, p.Retry))
		failures++
	}
}

// connect begins to connect, and goes on doing so.
func (p *Publisher) connect() (err error) {
	tell := func() {
		select {
		case p.broken <- struct{}{}:
		default:
		}
	}
	options := append([]natsgo.Option{
		natsgo.DisconnectErrHandler(func(_ *natsgo.Conn, err error) {
			p.state.lost(err)
			tell()
		}),
		natsgo.ReconnectErrHandler(func(_ *natsgo.Conn, err error) { p.state.unreachable(err) }),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { // no right to publish, for one
			p.state.complaint(err, p.Cluster)
			tell()
		}),
	}, p.Options...)
	if p.conn, err = p.Dial.Connect(options...); err != nil {
		return err
	}
	p.js, err = p.Dial.JetStream(p.conn)
	return err
}

// CatchUp waits, while Run runs, until all that is durable now is acknowledged. It ends early with ctx's error, and
// does not wait for a server that is away.
func (p *Publisher) CatchUp(ctx context.Context) error {
	head := p.Log.Head().Sequence
	for {
		acked, problem, changed := p.state.watch()
		err := ctx.Err()
		switch {
		case acked >= head:
			return nil
		case err == nil && problem != "":
			err = errors.New(problem)
		}
		if err != nil {
			return fmt.Errorf("records %d to %d are not published yet: %w", acked+1, head, err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}
