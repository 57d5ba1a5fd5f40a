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

// folder is the name of the folder in Config.Dir that has the copy. No controller's log is in a folder of this name, so
// it can be deleted.
const folder = "mirror"

// Config says where to keep the copy, and from which controllers. Dir and Clients are required.
type Config struct {
	Dir     string // the copy is in a folder of this directory
	Clients []*feed.Client
	Where   string           // addresses of the controllers, for messages
	Log     store.Options    // options of the copy: what this program can read, and what readers need
	Clock   func() time.Time // of this machine; nil for time.Now
	Logger  *slog.Logger     // nil for the default
}

// Mirror keeps a copy of a controller's log, and opens it for readers. Make it with New.
type Mirror struct {
	config Config
	dir    string
	logger *slog.Logger

	mu   sync.Mutex
	kept *kept // nil while there is no copy
	seen seen
}

// seen is what is known about the controllers from their answers.
type seen struct {
	asked answered  // the controller that answered last, and its answer
	at    time.Time // when it answered; before the first answer, the start of this process
	gone  error     // why no controller answers; nil while one does
	whole bool      // the copy has all records up to the newest one in that answer
	known known     // the time up to which the copy is complete
}

// answered is a controller and its answer about its log.
type answered struct {
	client  *feed.Client
	address string
	head    feed.Head
}

// known is a time (now, by the controller's clock) up to which the copy has all records.
type known struct {
	now events.Time
	at  time.Time // the same time by this machine's clock
}

// silentFor is how long the controller may be silent before answers to readers say so. The controller is asked each
// second.
const silentFor = 4 * time.Second

// New opens the copy in Config.Dir, if there is one. It returns store.HeldError if another process has the copy open.
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

// Open implements reader.Log: it gives one request access to the copy. While there is no copy, it returns an error with
// status 503. note gets a sentence for the user if the copy is behind.
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

// away returns nil while a controller answers. Otherwise its error says since when none does, and which is the newest
// known record.
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

// notYetError is returned while there is no copy yet from which a question could be answered.
type notYetError struct{ says string }

func (e *notYetError) Error() string { return e.says }

// HTTPStatus returns 503, because the copy will exist soon.
func (*notYetError) HTTPStatus() int { return http.StatusServiceUnavailable }
