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

// Publisher publishes a log on NATS. Run may be called once.
type Publisher struct {
	Config
	offset follow.Offset
	jobs   follow.Jobs
	state  state
	conn   *natsgo.Conn
	js     jetstream.JetStream
	broken chan struct{} // holds a token when the connection broke or the server complained
	known  bool          // the previous session ended with errKnown (a duplicate in a batch); owned by Run
}

// New returns a Publisher that does nothing until Run. It returns an error for a local problem, such as an invalid
// configuration. Status reports problems of the server.
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

// Run publishes records that become durable until ctx ends or the log closes, and then returns nil. Failures of NATS do
// not end it. An unreadable log does not end it either, because other parts of the controller handle that. It returns
// an error only for a connection that can never succeed.
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
			_ = p.offset.Note(p.state.acked()) // so that the next start has less to look up; the log may be closed
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

// connect starts to connect, and retries in the background.
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
		// For errors that the server sends by itself, such as a missing permission to publish
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) {
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

// CatchUp waits until everything that is durable now is acknowledged. Run must be running. It returns ctx's error, or
// an error when a server is unreachable.
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
