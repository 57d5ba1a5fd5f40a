package explain

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// Unrecorded counts the versions of a Job and its pods that were seen and got no record. Later records have the number.
type Unrecorded struct {
	Versions uint64
	told     []Mark // the first records that say that versions got no record
}

func (u *Unrecorded) Learn(r *events.Record) {
	if n := r.Evidence.PassedOver; n > 0 {
		u.Add(n, MarkOf(r))
	}
}

func (u *Unrecorded) Add(versions uint64, told Mark) {
	if u.Versions += versions; len(u.told) < MostCited {
		u.told = append(u.told, told)
	}
}

func (u *Unrecorded) Sentences(of string) []Sentence {
	if u.Versions == 0 {
		return nil
	}
	return []Sentence{Say(u.told, "%s of %s were seen and not recorded: too many in a short time", Versions(u.Versions),
		of)}
}

func Versions(n uint64) string {
	if n == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", n)
}

// PassedText says that a namespace was over its log budget (how much log it may fill), and when. moment writes times.
func PassedText(p *history.Passed, moment func(events.Time) string) Sentence {
	end := "and it still is"
	if p.Until != 0 {
		end = "to " + moment(events.Time(p.Until))
	}
	var from []Mark
	for _, at := range p.Records {
		from = append(from, RecordMark(events.Sequence(at)))
	}
	return Say(from, "PASSED OVER from %s %s: %s", moment(events.Time(p.From)), end, p.Text(moment))
}
