package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Source is where a question finds its answer. Records that a Source does not give are not told of: who may see a part
// of a log is given a Source of that part.
type Source struct {
	history.Source
	// Note takes what the user should know beside the answer, in one line.
	Note func(text string)
	// Behind takes what is better said behind the answer, such as how to go on.
	Behind func(text string)
	// AsOf takes the point of the past that an answer is as of, if it is of one; nil for nobody wants to know.
	AsOf func(at history.Place)
	// Clock is that of this machine: "5m" is so long before it.
	Clock func() time.Time
	// Damage is what was met in the log so far; nil for nothing.
	Damage *store.Damage
	// NotListed says why the controller cannot list the cluster; empty when it can, nil where no controller is asked.
	NotListed func(context.Context) string
}

func (s Source) note(format string, args ...any) { s.Note(fmt.Sprintf(format, args...)) }

func (s Source) behind(format string, args ...any) { s.Behind(fmt.Sprintf(format, args...)) }

func (s Source) asOf(at history.Place) {
	if s.AsOf != nil {
		s.AsOf(at)
	}
}

// finder finds objects in the log, and tells as notes what the user should know of that.
func (s Source) finder() *which.Finder { return &which.Finder{Source: s.Source, Note: s.Note} }

// NothingAt says that an object was not there at the point that was asked for: how its time was read, and where the log
// begins.
func (s Source) NothingAt(ctx context.Context, h which.Object, at *Point) error {
	if !at.Given() {
		return which.Unknown("the log knows no %s", h)
	}
	text := fmt.Sprintf("the log has no record of %s up to %s", h, at.text)
	if at.sequence == 0 && !at.when.Ago() {
		zone := "UTC, unless they name a zone: --local takes them in the zone of this machine"
		if at.zone.Location != nil {
			zone = "the zone of this machine (--local)"
		}
		text += "; times are in " + zone
	}
	for r, err := range s.Read(ctx, 0) {
		if err == nil {
			text += fmt.Sprintf("; the log begins at %s with record %d", words.Zone{}.Second(r.Time), r.Sequence)
		}
		break
	}
	return which.Unknown("%s", text)
}

// firstDamage is the first damaged place that was met, if its place is known.
func (s Source) firstDamage() (bad *store.CorruptError) {
	for _, damage := range s.Damage.Met() {
		if errors.As(damage, &bad) {
			return bad
		}
	}
	return nil
}

// mostUnlisted is among how many of the controller's newest records its start is looked for. One that listed nothing
// writes few.
const mostUnlisted = 200

// NoteUnlisted says of a list that the controller has listed nothing since its start: that nothing is in the list says
// nothing about the cluster.
func (s Source) NoteUnlisted(ctx context.Context) {
	if s.NotListed != nil {
		if text := s.NotListed(ctx); text != "" {
			s.note("nothing was listed: %s", words.Clean(text))
			return
		}
	}
	if since := s.unlistedSince(ctx); since != 0 {
		s.note("nothing was listed since the controller started at %s: it had no right to list Jobs, did not reach the API server, or "+
			"did not get that far; what is shown is older", words.Zone{}.Second(since))
	}
}

// unlistedSince is when the controller started that has listed nothing since; 0 for one that has, or where that is not
// known.
func (s Source) unlistedSince(ctx context.Context) events.Time {
	n := 0
	for r, err := range s.ReadStream(ctx, events.Controller, 0, store.Backward) {
		if n++; err != nil || n > mostUnlisted {
			return 0
		}
		switch r.Kind {
		case events.KindSynced, events.KindStateStored:
			return 0
		case events.KindControllerStarted:
			return r.Time
		default:
		}
	}
	return 0
}
