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
	// a standby is behind, and not ready, if it last had all records longer ago than this
	mostBehind  = 3 * time.Second
	headWithin  = 2 * time.Second // time limit for asking controllers which record is their newest
	partWithin  = 20 * time.Second
	pollWithin  = 4 * time.Second // time limit for an answer that may wait a second for a new record
	firstPause  = 100 * time.Millisecond
	mostPause   = time.Second
	tellAfter   = 10 * time.Second
	aloneFor    = 5 * time.Minute
	heardWithin = 5 * time.Second // how long it counts that a controller answered that it has more records
	mostAtATime = 16              // most controllers asked at the same time
)

// ShipWithin is how long a leader that stops waits for standbys that lack some of its records.
const ShipWithin = 1500 * time.Millisecond

// Config says from which controllers to copy the log. All fields are required.
type Config struct {
	Log     string         // address of this process's own log
	Clients []*feed.Client // the controllers; this process may be one of them
	Where   string         // their addresses, for messages
	Self    string         // identity of this process in the Lease
	Retry   time.Duration  // time between two reads of the Lease
	Logger  *slog.Logger

	Leads     func() bool            // whether this process holds the Lease
	Followers func() []feed.Follower // the processes that have asked this one for records
}

// Log is what a Standby needs of the opened log of this process.
type Log interface {
	store.Opened
	store.Follower
}

// errNoFollower is returned for a kind of log that cannot store the records of another log.
var errNoFollower = errors.New("this kind of log cannot follow another one")

// ErrDiverged is returned if the leader's log has other records than this one. At the next start, the records at the
// end of this log are set aside.
var ErrDiverged = errors.New("the log of the leader does not go on from this one: started again, this controller sets the " +
	"end of its log aside and follows")

// Standby copies the leader's log into this process's log, and decides when this process may take the Lease. Make it
// with New.
type Standby struct {
	config Config
	logger *slog.Logger
	log    Log // set by Begin, with mu held
	freed  chan struct{}

	mu    sync.Mutex
	asked time.Time // when all controllers were last asked
	asOf  time.Time // a time at which this log had all records of the leader; zero for none
	gone  error     // why no records can be copied from a leader; nil while they can
	told  time.Time // when gone was last logged
	more  peer      // a controller with more records than this log, when all controllers were last asked
	peer  string    // address of the leader that was copied from last
	now   events.Time

	leader heard // the leader's newest answer, for metrics; zero for none

	said  lease.Said // content of the Lease when it was last read
	since time.Time  // when this content of the Lease was first read
	free  time.Time  // since when this process could take the Lease; zero while it cannot
	claim uint64     // epoch (life of the log) to begin with the Lease; 0 to continue the log's epoch
	lost  events.Loss
}

// New returns a Standby that does nothing until its methods are called.
func New(c Config) *Standby {
	return &Standby{config: c, logger: c.Logger, freed: make(chan struct{}, 1)}
}

// Released returns a channel that receives a value when the leader is about to release the Lease, and this log has the
// leader's last record.
func (s *Standby) Released() <-chan struct{} { return s.freed }

// Begin sets the opened log that records are copied into, and creates the file FOLLOWS in the log's directory.
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

// Now returns the time of the leader's clock in the leader's newest answer; 0 if there was none.
func (s *Standby) Now() events.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Behind returns nil if this log had all of the leader's records at some time in the last 3 seconds; otherwise an error
// that says why it had not.
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
