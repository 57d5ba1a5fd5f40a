package crons

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// tail holds the newest records, to print them after a failure.
type tail []events.Record

func (l *tail) keep(rec *events.Record) {
	const most = 4096
	if *l = append(*l, *rec); len(*l) > most {
		*l = append((*l)[:0], (*l)[most/2:]...)
	}
}

// of prints the records of a stream and of the controller.
func (l *tail) of(s events.Stream) string {
	var out strings.Builder
	for i := range *l {
		if r := &(*l)[i]; r.Stream == s || r.Stream == events.Controller {
			text, _ := json.Marshal(r.Facts)
			fmt.Fprintf(&out, "%d %s %s %s\n", r.Sequence, r.Time.Go().UTC().Format("01-02 15:04:05.000"), r.Kind, text)
		}
	}
	return out.String()
}
