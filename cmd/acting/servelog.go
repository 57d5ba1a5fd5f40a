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

// openedFor is how long requests share an opened log. So an answer can lack records that are at most this old.
const openedFor = time.Second

// logBeside is the log in a directory, as serve opens it for its users. It opens the log again after a second, to see
// new records. While a controller has the log open, it asks that controller instead. It is safe for concurrent use.
type logBeside struct {
	flags  cli.JobFlags
	getenv func(string) string

	mu  sync.Mutex
	now *sharedLog
}

// sharedLog is an open log that several requests use at a time. The last one closes it.
type sharedLog struct {
	src    history.Source
	damage []error // damage that was found when the log was opened
	notes  []string
	at     time.Time
	users  int // number of requests that use it, plus one while logBeside keeps it for the next requests
}

// try opens the log once at the start, so that serve can report a wrong directory.
func (l *logBeside) try(ctx context.Context) error {
	s, err := l.open(ctx)
	if err == nil {
		s.src.Close()
	}
	return err
}

// open opens the log as a command with these flags would. It collects the notes that the command would print.
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
		if note, is := strings.CutPrefix(strings.TrimSpace(line), "note: "); is { // only notes: damage is in s.damage
			s.notes = append(s.notes, note)
		}
	}
	return s, nil
}

// Open implements reader.Log: it gives one request access to the log. note gets sentences for the user.
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
			info, _ := client.Info(ctx) // if it fails, only this note is missing
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

// left is called when a request has finished with the log. After the last request it closes the log. The caller holds
// the lock.
func (*logBeside) left(s *sharedLog) {
	if s.users--; s.users == 0 {
		s.src.Close()
	}
}

// lent is an open log that several requests share. Close ends the use by one of them.
type lent struct {
	history.Source
	giveBack func()
}

func (l lent) Close() { l.giveBack() }

// Run implements reader.Log: it waits for the end of ctx, because the log is opened for each request.
func (l *logBeside) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
