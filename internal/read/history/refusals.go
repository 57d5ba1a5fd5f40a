package history

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/projector"
)

// Refusal is a command that will be tried again, because the API server refused it, or because no answer came and its
// outcome is unknown.
type Refusal struct {
	Does string `json:"does"`
	// Class is the kind of the newest refusal, such as Forbidden; absent if no answer came to the newest try.
	Class  string             `json:"class,omitempty"`
	Since  recordjson.Instant `json:"since,omitzero"`
	Tries  uint32             `json:"tries"`            // failed tries in a row, also due ones without a record
	Record uint64             `json:"record,omitempty"` // record of the newest failed try
	Says   string             `json:"says,omitempty"`   // the API server's message in that record
	Next   recordjson.Instant `json:"next,omitzero"`
}

// said is the newest failure of a command: the record, and the error text in it.
type said struct {
	at   events.Sequence
	text string
}

// refusals returns the commands that failed and will be tried again, or are being tried again at time now, ordered by
// their decisions. A refused status write comes last.
func refusals(a *Account, now events.Time) []Refusal {
	j := a.job
	var out []Refusal
	for _, name := range j.AllRetrying() {
		f, retry := j.Retrying(name)
		next, due := retry.Next(j.Settings, now)
		r := refusal(a.names.Phrase(a.Stream, f.Command), retry, a.said[name])
		r.Tries, r.Next = r.Tries+due, recordjson.Instant(next)
		out = append(out, r)
	}
	if w := j.Writing(); w.Count > 0 && j.Known() && !j.Gone && !j.Finished() {
		r := refusal("write status", w, a.writing)
		if r.Next = recordjson.Instant(w.Until); w.Until <= now {
			r.Next = 0 // the backoff is over, so it is being tried again now
		}
		out = append(out, r)
	}
	return out
}

func refusal(does string, retry *commands.Retry, s said) Refusal {
	r := Refusal{Does: does, Since: recordjson.Instant(retry.Since), Tries: retry.Count, Record: uint64(s.at), Says: s.text}
	if retry.Class != 0 {
		r.Class = retry.Class.String()
	}
	return r
}

// notes returns sentences about what the status in the cluster cannot show, as when the API server refuses a lower
// status.succeeded.
func notes(j *projector.Job) []string {
	var out []string
	if n := j.Completed().Len(); j.Indexed && !j.Finished() && n < j.Base.Succeeded && j.Completions != j.Parallelism {
		indexes := fmt.Sprintf("%d indexes have", n)
		if n == 1 {
			indexes = "1 index has"
		}
		out = append(out, fmt.Sprintf("status.succeeded stays at %d, though %s succeeded: the API server lets it go down only while "+
			"completions and parallelism are equal", j.Base.Succeeded, indexes))
	}
	return out
}
