package explain

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Life is one of several Jobs that had the same name one after the other. Its JSON changes only by adding fields.
type Life struct {
	UID   string             `json:"uid"`
	State string             `json:"state"`
	At    recordjson.Instant `json:"at"`             // its end or deletion; else its creation
	This  bool               `json:"this,omitempty"` // the answer is about this Job
	// Older is the number of earlier Jobs with this name that were not read.
	Older int `json:"older,omitempty"`
}

// LivesText returns a text about the Jobs that had the same name, the oldest first: "3 Jobs had this name: FAILED
// 22:04:15 (this one), COMPLETE 22:05:06 (job/1f8e8e25)".
func LivesText(all []Life, zone words.Zone) string {
	layout := "15:04:05"
	for i := range all {
		if !zone.SameDay(events.Time(all[i].At), events.Time(all[0].At)) {
			layout = "2 Jan 15:04:05"
		}
	}
	n := len(all) + all[0].Older
	var parts []string
	if all[0].Older > 0 {
		parts = append(parts, fmt.Sprintf("%d older", all[0].Older))
	}
	for i := range all {
		l := &all[i]
		which := "job/" + l.UID[:min(len(l.UID), 8)]
		if l.This {
			which = "this one"
		}
		parts = append(parts, fmt.Sprintf("%s %s (%s)", strings.ToUpper(l.State), zone.In(events.Time(l.At)).Format(layout),
			which))
	}
	return fmt.Sprintf("%d Jobs had this name: %s", n, strings.Join(parts, ", "))
}
