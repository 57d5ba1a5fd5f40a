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

// Source is the place where a question finds its answer. An answer uses only the records that the Source gives, so a
// user with rights to a part of the log gets a Source of that part.
type Source struct {
	history.Source
	// Note receives a remark that belongs to the answer, one line each. It must not be nil.
	Note func(text string)
	// Behind receives a remark to print after the answer, such as how to get the next page. It must not be nil.
	Behind func(text string)
	// AsOf receives the point in the past that an answer is as of. It is not called for an answer as of now; nil
	// ignores it.
	AsOf func(at history.Place)
	// Clock returns the time of this machine. A time such as "5m" counts back from it.
	Clock func() time.Time
	// Damage collects the damage met in the log so far; nil for none.
	Damage *store.Damage
	// NotListed returns why the controller cannot list the cluster; empty if it can. It is nil if no controller is
	// asked.
	NotListed func(context.Context) string
	// Elsewhere asks a question in the process that has the log, for example a reader. It reports whether there is an
	// answer, which may have an error beside it. With nil, this process answers.
	Elsewhere func(context.Context, Remote) (there bool, err error)
}

func (s Source) note(format string, args ...any) { s.Note(fmt.Sprintf(format, args...)) }

func (s Source) behind(format string, args ...any) { s.Behind(fmt.Sprintf(format, args...)) }

func (s Source) asOf(at history.Place) {
	if s.AsOf != nil {
		s.AsOf(at)
	}
}

// finder returns a finder of objects in the log. Its remarks become notes.
func (s Source) finder() *which.Finder { return &which.Finder{Source: s.Source, Note: s.Note} }

// NothingAt returns the error for an object that did not exist at the given point. It says in which zone the time was
// read, and where the log begins.
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

// firstDamage returns the first damage with a known place; nil if there is none.
func (s Source) firstDamage() (bad *store.CorruptError) {
	for _, damage := range s.Damage.Met() {
		if errors.As(damage, &bad) {
			return bad
		}
	}
	return nil
}

// mostUnlisted limits how many of the newest records of the controller's stream are searched for its start. A
// controller that has listed nothing writes few records.
const mostUnlisted = 200

// NoteUnlisted notes that the controller has listed nothing since its start. A list without an object then says nothing
// about the cluster.
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

// unlistedSince returns when the controller started, if it has listed nothing since; 0 if it has, or if that is
// unknown.
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
