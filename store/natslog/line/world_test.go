package line_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/natslog/line"
	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

var key = events.Hash{7}

// small makes files turn over often.
var small = store.Options{RotateBytes: 64 << 10}

// leader is a process that leads a replicated log: its own log, and the line.
type leader struct {
	t    testing.TB
	s    *stream.Stream
	dir  string
	bolt *boltlog.Log
	log  *line.Log
	line *line.Line
	stop context.CancelFunc // of the line
	end  chan error         // the line's
}

// lead opens the log in dir, brings it to the end of the stream and claims that.
func lead(t testing.TB, s *stream.Stream, dir, logID string) *leader {
	t.Helper()
	p := &leader{t: t, s: s, dir: dir, line: line.New(line.Config{Stream: s, Key: key}), end: make(chan error, 1)}
	options := small
	options.LogID, options.Before = logID, p.line.Before
	var err error
	if p.bolt, err = boltlog.Open(dir, options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(context.Background())
	defer cancel()
	term := p.bolt.Term()
	for err = line.ErrOvertaken; errors.Is(err, line.ErrOvertaken); {
		f := follow(t, s, p.bolt)
		term = max(term, f.State().Term+1)
		err = p.line.Claim(ctx, f.State(), line.Term{Identity: p.bolt.Identity(), Head: p.bolt.Head(), Term: term})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := p.bolt.SetTerm(term); err != nil {
		t.Fatal(err)
	}
	p.log = line.Of(p.bolt, p.line)
	running, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() { p.end <- p.line.Run(running) }() // ends with stop
	return p
}

// close ends the process in good order. The errors are those of its log and of its line.
func (p *leader) close() error {
	err := p.log.Close()
	p.stop()
	return errors.Join(err, <-p.end)
}

// follow brings a log to the end of the stream.
func follow(t testing.TB, s *stream.Stream, log replica.Log) *replica.Follower {
	t.Helper()
	ctx, cancel := patience.Context(context.Background())
	defer cancel()
	f, err := replica.Begin(ctx, s, log, events.ReaderVersion{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Through(ctx, newest(t, s)); err != nil {
		t.Fatal(err)
	}
	return f
}

// newest is the place of the newest message, as soon as the stream has a leader.
func newest(t testing.TB, s *stream.Stream) (place uint64) {
	t.Helper()
	natstest.Eventually(t, "the stream says where it ends", func() (err error) {
		ctx, cancel := patience.Context(context.Background())
		defer cancel()
		place, err = s.Newest(ctx)
		return err
	})
	return place
}

// made is a new stream.
func made(t testing.TB, js jetstream.JetStream, name string, replicas int) *stream.Stream {
	t.Helper()
	ctx, cancel := patience.Context(context.Background())
	defer cancel()
	s, err := stream.Make(ctx, js, stream.Config{Name: name, Replicas: replicas})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
