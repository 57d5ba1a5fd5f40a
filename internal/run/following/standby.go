package following

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/store"
)

// Names of flags, for messages.
const (
	Flag          = "follow"
	AuthorityFlag = "follow-ca"
	TokenFlag     = "follow-token-file"
)

const (
	mostBehind  = 3 * time.Second // a standby that is further behind is not ready
	headWithin  = 2 * time.Second // time limit for the heads of the controllers
	partWithin  = 20 * time.Second
	pollWithin  = 4 * time.Second // of an answer that may wait for a record for a second
	firstPause  = 100 * time.Millisecond
	mostPause   = time.Second
	tellAfter   = 10 * time.Second
	aloneFor    = 5 * time.Minute
	heardWithin = 5 * time.Second // a controller that answered so lately is known to have more
	mostAtATime = 16              // controllers asked at once
)

// ShipWithin bounds how long a leader that stops waits for standbys that have not all of its records.
const ShipWithin = 1500 * time.Millisecond

// Config says whose log to follow. All fields are required.
type Config struct {
	Log     string         // address of this process's own log
	Clients []*feed.Client // the controllers; this process may be one of them
	Where   string         // where they answer, for messages
	Self    string         // identity of this process in the Lease
	Retry   time.Duration  // time between looks at the Lease
	Logger  *slog.Logger

	Leads     func() bool            // whether this process holds the Lease
	Followers func() []feed.Follower // the processes that have asked this one for its records
}

// Log is what a Standby needs of an opened log.
type Log interface {
	store.Opened
	store.Follower
}

// errNoFollower is returned for a log that cannot take the records of another one.
var errNoFollower = errors.New("this kind of log cannot follow another one")

// ErrDiverged: the leader's log does not go on from this one. The next start sets the end of this one aside.
var ErrDiverged = errors.New("the log of the leader does not go on from this one: started again, this controller sets the " +
	"end of its log aside and follows")

// Standby is a process that follows a log. Make it with New.
type Standby struct {
	config Config
	logger *slog.Logger
	log    Log // set by Begin, with mu held
	freed  chan struct{}

	mu    sync.Mutex
	asked time.Time // when the newest question to all controllers was answered or given up
	asOf  time.Time // the log has all that the leader had then; zero before
	gone  error     // why no leader gives its records; nil while one does
	told  time.Time // when that was logged
	more  peer      // who has more records than this log, as of the newest question to all
	peer  string    // whose records were appended last, for messages
	now   events.Time

	leader heard // the newest answer of a process that led, for metrics; none has no name

	said  lease.Said // the Lease as last seen
	since time.Time  // when it was first seen like that
	free  time.Time  // since when it might be taken, and is not; zero while that is not so
	claim uint64     // epoch to begin with the Lease; 0 for going on in the one that the log has
	lost  events.Loss
}

// New returns a Standby that follows nothing yet.
func New(c Config) *Standby {
	return &Standby{config: c, logger: c.Logger, freed: make(chan struct{}, 1)}
}

// Released returns a channel that receives a value when this log has the last record of a leader that is about to
// release the Lease.
func (s *Standby) Released() <-chan struct{} { return s.freed }

// Begin takes the opened log. From now on its directory says that it is a follower's.
func (s *Standby) Begin(log store.Opened) error {
	to, ok := log.(Log)
	if !ok {
		return errNoFollower
	}
	s.mu.Lock()
	s.log = to
	s.mu.Unlock()
	return writeFile(s.config.Log, log.Identity().LogID)
}

// Now returns the time of the leader's clock as of its newest answer; 0 if there was none.
func (s *Standby) Now() events.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Behind returns why this process does not have all that the leader had a moment ago; nil if it has.
func (s *Standby) Behind() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	behind := time.Since(s.asOf)
	switch {
	case !s.asOf.IsZero() && behind <= mostBehind:
		return nil
	case s.gone != nil:
		return fmt.Errorf("no leader gives its records: %w", s.gone)
	case s.asOf.IsZero():
		return errors.New("the log of the leader is being read")
	}
	return fmt.Errorf("the log of the leader is read as of %s ago", behind.Round(time.Second))
}
