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

// Source is the log that a question is asked of. An answer uses only records that the Source returns. For a user who
// may read only a part of the log, pass a Source of this part (package permit).
type Source struct {
	history.Source
	// Note receives remarks for the user that belong to the answer, each one line. It must not be nil.
	Note func(text string)
	// Behind receives remarks to print after the answer, such as how to get the next page. It must not be nil.
	Behind func(text string)
	// AsOf receives the point as of which an answer about the past is. For an answer about the present it is not
	// called. It may be nil.
	AsOf func(at history.Place)
	// Clock returns the time of this machine, from which a time such as "5m" (5 minutes ago) is computed.
	Clock func() time.Time
	// Damage collects the damage of the log that was met so far. It may be nil.
	Damage *store.Damage
	// NotListed returns the reason why the controller cannot list the cluster; empty if it can. It is nil if no
	// controller can be asked.
	NotListed func(context.Context) string
	// Elsewhere asks the question in another process that has the log, such as a reader (jobledger serve). there is
	// true if Remote.Answer is set, possibly with an error. If Elsewhere is nil, this process answers.
	Elsewhere func(context.Context, Remote) (there bool, err error)
}

func (s Source) note(format string, args ...any) { s.Note(fmt.Sprintf(format, args...)) }

func (s Source) behind(format string, args ...any) { s.Behind(fmt.Sprintf(format, args...)) }

func (s Source) asOf(at history.Place) {
	if s.AsOf != nil {
		s.AsOf(at)
	}
}

// finder returns a finder of objects in the log, whose remarks go to Note.
func (s Source) finder() *which.Finder { return &which.Finder{Source: s.Source, Note: s.Note} }

// NothingAt returns the error for an object that did not exist at a point. The error tells in which time zone the point
// was read, and where the log begins.
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

// firstDamage returns the first collected damage of a known record; nil if there is none.
func (s Source) firstDamage() (bad *store.CorruptError) {
	for _, damage := range s.Damage.Met() {
		if errors.As(damage, &bad) {
			return bad
		}
	}
	return nil
}

// mostUnlisted is how many of the controller's newest records are searched for its start. A controller that could not
// list anything writes few records.
const mostUnlisted = 200

// NoteUnlisted adds a remark if the controller has listed nothing since its start. A list without an object then does
// not mean that the cluster has no such object.
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

// unlistedSince returns when the controller started, if it has listed nothing since then. It returns 0 if it has, or if
// that is not known.
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
