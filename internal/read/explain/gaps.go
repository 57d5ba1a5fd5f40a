package explain

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// GapWhy says why nobody watched the cluster during gap g.
func GapWhy(g *history.Gap) string {
	switch {
	case g.Reason == events.ListingGap.String():
		return "because the log had no room"
	case g.Reason == events.ListingRelisted.String():
		return "because the watch was lost"
	case g.Orderly:
		return "because the controller had been stopped"
	}
	return "because the controller was not running: it had not stopped in good order"
}

// AtOnce reports whether a gap (a time in which nobody watched) is shorter than 50 ms, because the next listing
// followed at once. Nothing is lost in such a gap.
func AtOnce(g *history.Gap) bool {
	return g.Until != 0 && events.Time(g.Until).Sub(events.Time(g.From)) < 50*time.Millisecond
}

// GapMarks returns two records that prove a gap (a time in which nobody watched): the start and the end of the listing
// after it.
func GapMarks(g *history.Gap) []Mark {
	return Marks(Mark{events.Sequence(g.Listing), events.Time(g.Until)}, Mark{events.Sequence(g.Synced),
		events.Time(g.Until)})
}
