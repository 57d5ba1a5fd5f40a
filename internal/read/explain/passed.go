package explain

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// unrecorded counts the versions of a Job and its pods that were seen and not recorded, by the counts in later records.
type unrecorded struct {
	versions uint64
	told     []Mark // the first records with such a count
}

func (u *unrecorded) learn(r *events.Record) {
	if n := r.Evidence.PassedOver; n > 0 {
		u.add(n, markOf(r))
	}
}

func (u *unrecorded) add(versions uint64, told Mark) {
	if u.versions += versions; len(u.told) < mostCited {
		u.told = append(u.told, told)
	}
}

func (u *unrecorded) sentences(of string) []Sentence {
	if u.versions == 0 {
		return nil
	}
	return []Sentence{say(u.told, "%s of %s were seen and not recorded: too many in a short time", versions(u.versions), of)}
}

func versions(n uint64) string {
	if n == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", n)
}

// passedOver returns the times from the Job's creation to its end in which its namespace was over its log budget. Pods
// may have come and gone then without a record.
func (c *Case) passedOver() []history.Passed {
	return c.passed.Touching(c.Job.Namespace, false, c.start(), c.end())
}

// complete reports whether the log has all observed versions of the Job.
func (c *Case) complete() bool { return c.unrecorded.versions == 0 && len(c.passedOver()) == 0 }

// passedText says which namespace's records were dropped, and when.
func passedText(p *history.Passed, moment func(events.Time) string) Sentence {
	end := "and it still is"
	if p.Until != 0 {
		end = "to " + moment(events.Time(p.Until))
	}
	var from []Mark
	for _, at := range p.Records {
		from = append(from, record(events.Sequence(at)))
	}
	return say(from, "PASSED OVER from %s %s: %s", moment(events.Time(p.From)), end, p.Text(moment))
}
