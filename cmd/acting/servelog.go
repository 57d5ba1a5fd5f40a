package acting

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/run/reader"
	"github.com/jobledger/jobledger/store"
)

// openedFor is how long requests share an opened log. An answer, and the head that it names, are at most that old.
const openedFor = time.Second

// logBeside is the log in a directory. It opens the log again after a second, to see new records. While a controller
// has the log open, it asks that controller. It is safe for concurrent use.
type logBeside struct {
	flags  cli.JobFlags
	getenv func(string) string

	mu  sync.Mutex
	now *sharedLog
}

// sharedLog is an open log that requests share. The last user closes it.
type sharedLog struct {
	src    history.Source
	damage []error // known at the open
	notes  []string
	at     time.Time
	users  int // including the logBeside, while this is its now
}

// try opens the log once, so that a wrong directory is an error at the start.
func (l *logBeside) try(ctx context.Context) error {
	s, err := l.open(ctx)
	if err == nil {
		s.src.Close()
	}
	return err
}

// open opens the log like a command with these flags, and keeps the command's notes.
func (l *logBeside) open(ctx context.Context) (*sharedLog, error) {
	s := &sharedLog{at: time.Now(), users: 1}
	var said strings.Builder
	own := &cli.CLI{Out: io.Discard, Err: &said, Getenv: l.getenv, Met: &store.Damage{}}
	var err error
	if s.src, _, err = l.flags.Source.OpenToFold(ctx, own); err != nil {
		return nil, err
	}
	s.damage = own.Met.Met()
	for line := range strings.Lines(said.String()) {
		if note, is := strings.CutPrefix(strings.TrimSpace(line), "note: "); is { // damage is reported on its own
			s.notes = append(s.notes, note)
		}
	}
	return s, nil
}

// Open is described by reader.Log.
func (l *logBeside) Open(ctx context.Context, d *store.Damage, note func(string)) (reader.Opened, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil || time.Since(l.now.at) >= openedFor {
		s, err := l.open(ctx)
		if err != nil {
			return reader.Opened{}, err
		}
		if l.now != nil {
			l.left(l.now)
		}
		l.now = s
	}
	s := l.now
	s.users++
	for _, err := range s.damage {
		d.Known(err)
	}
	for _, text := range s.notes {
		note(text)
	}
	out := reader.Opened{}
	switch src := s.src.(type) {
	case *serve.Client:
		client := src.Noting(d)
		out.Source = client
		out.NotListed = func(ctx context.Context) string {
			info, _ := client.Info(ctx) // an error only loses the note
			return info.NotListed
		}
	case cli.Local:
		local := src.Local
		local.Damage = d
		out.Source = local
	}
	out.Source = lent{out.Source, sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.left(s)
	})}
	return out, nil
}

// left removes a user of the log. The caller holds the lock.
func (*logBeside) left(s *sharedLog) {
	if s.users--; s.users == 0 {
		s.src.Close()
	}
}

// lent is a source whose Close gives it back.
type lent struct {
	history.Source
	giveBack func()
}

func (l lent) Close() { l.giveBack() }

// Run is described by reader.Log.
func (l *logBeside) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
