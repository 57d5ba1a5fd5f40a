package mirror

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/reader"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// folder is the copy's folder in Config.Dir. No controller's log has this name.
const folder = "mirror"

// Config says where the copy is, and which controllers' log it copies. Dir and Clients are required.
type Config struct {
	Dir     string // the copy uses a folder of its own in it
	Clients []*feed.Client
	Where   string           // where the controllers answer, for messages
	Log     store.Options    // how the copy is opened: what this program can read, and what its readers need
	Clock   func() time.Time // of this machine; nil for time.Now
	Logger  *slog.Logger     // nil for the default
}

// Mirror is a copy of a log. Make it with New.
type Mirror struct {
	config Config
	dir    string
	logger *slog.Logger

	mu   sync.Mutex
	kept *kept // nil while there is no copy
	seen seen
}

// seen is what is known about the controllers.
type seen struct {
	asked answered  // the controller asked last
	at    time.Time // when it answered, or the start of this process
	gone  error     // why no controller answers; nil while one does
	whole bool      // the copy had the head in its answer
	known known     // as of when the copy was last complete
}

// answered is a controller that answered.
type answered struct {
	client  *feed.Client
	address string
	head    feed.Head
}

// known is an instant by the controller's clock up to which the copy has all records.
type known struct {
	now events.Time
	at  time.Time // the same instant by this machine's clock
}

// silentFor is how long a controller, which is asked each second, may be silent before answers say so.
const silentFor = 4 * time.Second

// New opens the existing copy, if any. It returns store.HeldError if another process has it open.
func New(c Config) (*Mirror, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	m := &Mirror{config: c, dir: filepath.Join(c.Dir, folder), logger: c.Logger, seen: seen{at: c.Clock()}}
	var err error
	m.kept, err = m.openKept()
	return m, err
}

var _ reader.Log = (*Mirror)(nil)

// Open is described by reader.Log. While there is no copy, it fails with status 503.
func (m *Mirror) Open(_ context.Context, d *store.Damage, note func(string)) (reader.Opened, error) {
	m.mu.Lock()
	k, s := m.kept, m.seen
	m.mu.Unlock()
	away := m.away(k, &s)
	switch {
	case k == nil && away != nil:
		return reader.Opened{}, away
	case k == nil:
		return reader.Opened{}, &notYetError{"the copy of the controller's log is being begun: ask again in a while"}
	}
	for _, damage := range k.log.Damage() {
		d.Known(damage)
	}
	clock := func() events.Time { return max(s.known.now, k.log.Head().Time) }
	switch head := k.log.Head(); {
	case away != nil:
		note(away.Error())
	case !s.whole:
		note(fmt.Sprintf("the copy of the log is behind: this is as of record %d of %s, and the controller has %d",
			head.Sequence, words.Zone{}.Second(head.Time), max(head.Sequence, s.asked.head.Sequence)))
	default:
		clock = func() events.Time { return s.known.now.Add(m.config.Clock().Sub(s.known.at)) }
		if !s.asked.head.Leads {
			note(fmt.Sprintf("no controller says that it holds the Lease: this is of the one with the newest record, %s",
				s.asked.name()))
		}
	}
	local := history.Local{Log: k.log, Lists: k.lists, Clock: clock, Damage: d}
	return reader.Opened{Source: local, NotListed: func(context.Context) string { return s.asked.head.NotListed }}, nil
}

// away returns since when no controller answers, and up to which record the log is known; nil while one answers.
func (m *Mirror) away(k *kept, s *seen) error {
	gone := s.gone
	if gone == nil && m.config.Clock().Sub(s.at) > silentFor {
		gone = fmt.Errorf("no answer within %s", silentFor)
	}
	if gone == nil {
		return nil
	}
	e := &reader.AwayError{Name: m.config.Where, Since: s.at, Cause: gone}
	if k != nil {
		head := k.log.Head()
		e.Record, e.Time = head.Sequence, head.Time
	}
	return e
}

// notYetError: there is no copy to answer from.
type notYetError struct{ says string }

func (e *notYetError) Error() string { return e.says }

// HTTPStatus returns 503.
func (*notYetError) HTTPStatus() int { return http.StatusServiceUnavailable }
