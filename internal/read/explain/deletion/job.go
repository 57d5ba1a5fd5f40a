package deletion

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/history"
)

// Removal says when the Job's object was deleted, and by whom. It returns false if it was not deleted.
func Removal(c *jobcase.Case) (explain.Sentence, bool) {
	m := c.Deletion()
	if m.Record == 0 {
		return explain.Sentence{}, false
	}
	at, when := m.At, "deleted"
	if c.JobDeleted != 0 {
		at = c.JobDeleted
	}
	if c.Gone.Record == 0 {
		when = "being deleted since"
	}
	if c.NeverSeen() {
		return explain.Say(explain.Marks(m), "found gone %s, who deleted it is unknown: the log has no version of it", c.Clock(m.At)), true
	}
	by, _, from := Job(c, m, at)
	if g := GoneUnseen(c, m); g != nil {
		return explain.Say(explain.Marks(m), "found gone %s, who deleted it is unknown: it was not watched from %s on",
			c.Clock(m.At), c.Clock(events.Time(g.From))), true
	}
	if end := c.Conclusion(); c.Finished() && c.Gone.Record != 0 && end.Record != 0 && end.Record < m.Record {
		when = "deleted after its end, at"
	}
	first := []explain.Mark{m, c.Gone}
	if expiredByUs(c, m) {
		first = []explain.Mark{c.Ttl, m, c.Gone}
	}
	return explain.Say(explain.Marks(append(first, from...)...), "%s %s, %s", when, c.Clock(at), by), true
}

// GoneUnseen returns the gap (a time in which nobody watched) in which the Job disappeared; m is the record that shows
// it gone. It returns nil if the deletion was seen, or a record announced it.
func GoneUnseen(c *jobcase.Case, m explain.Mark) *history.Gap {
	if c.JobDeleted != 0 || expiredByUs(c, m) {
		return nil
	}
	if w := c.OwnerSaid(m); w != nil && w.Ordered.Record != 0 {
		return nil
	}
	return c.GapBefore(nil, m)
}

// expiredByUs reports whether Jobledger had decided to delete the Job after its TTL, before record m showed the
// deletion.
func expiredByUs(c *jobcase.Case, m explain.Mark) bool {
	return c.Ttl.Record != 0 && c.Ttl.Record < m.Record
}

// Job says who deleted the Job. m is the record that shows the deletion, at is the time of the request. unknown says
// what the log does not tell about the deletion. from are the records that prove by.
func Job(c *jobcase.Case, m explain.Mark, at events.Time) (by, unknown string, from []explain.Mark) {
	namespace, going := c.NamespaceRemoval()
	switch {
	case expiredByUs(c, m):
		return "by Jobledger, as its ttlSecondsAfterFinished had passed", "", nil
	case going:
		return "with its namespace, whose deletion was asked for at " + c.Clock(namespace.Seen.Deleted), byWhom,
			explain.Marks(namespace.Mark)
	case c.NamespaceGoing.Record != 0:
		return "with its namespace", byWhom, nil
	}
	w := c.OwnerSaid(m)
	if w != nil {
		if by, unknown, from = byOwner(w, c.Origin.Name, m); by != "" {
			return by, unknown, from
		}
	}
	others := ""
	switch {
	case expiredBefore(c, at):
		return "after its ttlSecondsAfterFinished had passed", "", nil
	case c.Origin != nil && c.Origin.Kind != "" && (w == nil || w.Deleted.Record != 0):
		others = " or with its " + c.Origin.Kind + " " + c.Origin.Name
	case w != nil && !w.Ours:
		others = ", or by the CronJob's own controller"
	}
	if others += orNamespace(c, m); others == "" {
		return "by an API client", explain.WhichClient, nil
	}
	return "by an API client" + others, "; which is unknown", nil
}

const byWhom = "; " + explain.ByWhom

// orNamespace returns a phrase that the Job may have been deleted with its namespace; empty if namespaces were watched
// at record m, so that this would be known.
func orNamespace(c *jobcase.Case, m explain.Mark) string {
	if c.Look(m).Namespaces == events.WatchingOn {
		return ""
	}
	return " or with its namespace (namespaces are not watched)"
}

// expiredBefore reports whether the TTL of the finished Job (ttlSecondsAfterFinished) had expired by time at.
func expiredBefore(c *jobcase.Case, at events.Time) bool {
	ttl := c.NewestTTL()
	return c.Finished() && ttl != nil && at >= events.Time(c.Job.Finished).Add(time.Duration(*ttl)*time.Second)
}
