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

// Source is what a question needs to be answered: the log, and where remarks for the user go. If the user may read only
// a part of the log, the log must be limited to this part (package permit).
type Source struct {
	history.Source
	// Note is called with each remark that belongs to the answer, one line of text. It must not be nil.
	Note func(text string)
	// Behind is called with each remark to print after the answer, such as how to get the next page. It must not be
	// nil.
	Behind func(text string)
	// AsOf is called with the record as of which an answer about the past is, but not for an answer about the present.
	// It may be nil.
	AsOf func(at history.Place)
	// Clock returns the time of this machine, from which a time such as "5m" (5 minutes ago) is computed.
	Clock func() time.Time
	// Damage collects the damaged places of the log that were met so far. It may be nil.
	Damage *store.Damage
	// NotListed returns the reason why the controller cannot list the cluster; empty if it can. It may be nil: no
	// controller can be asked.
	NotListed func(context.Context) string
	// Elsewhere sends the question to another process that has the log, such as a reader (jobledger serve, which
	// answers many users). It returns true (result there) if the answer is in Remote.Answer, even if there is also an
	// error. If Elsewhere is nil, this process answers.
	Elsewhere func(context.Context, Remote) (there bool, err error)
}

func (s Source) note(format string, args ...any) { s.Note(fmt.Sprintf(format, args...)) }

func (s Source) behind(format string, args ...any) { s.Behind(fmt.Sprintf(format, args...)) }

func (s Source) asOf(at history.Place) {
	if s.AsOf != nil {
		s.AsOf(at)
	}
}

// finder returns what finds objects in the log by name. It tells the user (Note) what it assumed.
func (s Source) finder() *which.Finder { return &which.Finder{Source: s.Source, Note: s.Note} }

// NothingAt returns the error for an object that did not exist at the point --at. Its text says where the log begins,
// and in which time zone --at was read.
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

// firstDamage returns the first damage of the log that was met at a known record; nil for none.
func (s Source) firstDamage() (bad *store.CorruptError) {
	for _, damage := range s.Damage.Met() {
		if errors.As(damage, &bad) {
			return bad
		}
	}
	return nil
}

// mostUnlisted limits unlistedSince: it searches the start of the controller in its newest 200 records. A controller
// that cannot list the cluster writes few records.
const mostUnlisted = 200

// NoteUnlisted tells the user if the controller could not list the cluster since it started: an object that a list
// lacks may exist.
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

// unlistedSince returns when the controller started, if it has not listed the cluster since. Otherwise, or if that is
// not known, it returns 0.
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
