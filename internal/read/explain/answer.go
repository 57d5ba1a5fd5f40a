package explain

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Answer is an explanation of a Job, of a pod, or of a CronJob. Its JSON changes only by growing; docs/postmortem.md
// has its schema.
type Answer struct {
	Kind      string `json:"kind"` // "job", "pod" or "cronjob"
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`

	Lives []Life `json:"lives,omitempty"` // the Jobs that had its name, the oldest first; left out when there is one, or the UID was given

	AsOf  history.Place `json:"asOf"`
	State string        `json:"state"`
	// Clock says by what the time of asOf is now: "controller" by that of the controller that writes the log, "log" by the
	// newest record, as no controller was asked. It is left out where another time was asked for.
	Clock      string             `json:"clock,omitempty"`
	LastRecord recordjson.Instant `json:"lastRecord,omitzero"` // beside the controller's clock: the time of the newest record of the log
	Verdict    Sentence           `json:"verdict"`

	Schedule   string             `json:"schedule,omitempty"` // of a CronJob: by what it is due, and its policy
	Created    recordjson.Instant `json:"created,omitzero"`
	Finished   recordjson.Instant `json:"finished,omitzero"`
	Deleted    *Sentence          `json:"deleted,omitempty"`    // when its object was, and by whom
	Gaps       []history.Gap      `json:"gaps,omitempty"`       // that touch its time
	PassedOver []history.Passed   `json:"passedOver,omitempty"` // that touch its time
	Unrecorded uint64             `json:"unrecorded,omitempty"` // versions of it that were seen and not recorded, as its records tell
	Begun      string             `json:"begun,omitempty"`      // what its first record shows to have happened before that
	InPart     bool               `json:"inPart,omitempty"`     // the controller had no full view of the cluster as of then
	Truncated  bool               `json:"truncated,omitempty"`
	Damaged    uint64             `json:"damaged,omitempty"` // the first record that cannot be read: what follows is not told
	Resumed    uint64             `json:"resumed,omitempty"` // the first record behind the damage, from which on it is told again

	Lead     string    `json:"lead,omitempty"` // the head of the first section, where that tells the cause of the verdict
	Sections []Section `json:"sections"`
}

// Section is what there is to say under one head.
type Section struct {
	Head      string     `json:"head"` // WHY, FIRST, ALIKE, …
	Sentences []Sentence `json:"sentences"`
}

// Sentence is a statement and the records that it follows from.
type Sentence struct {
	Text    string             `json:"text"`
	Whole   string             `json:"whole,omitempty"` // with all of the texts of others that are cut in Text; may have several lines
	At      recordjson.Instant `json:"at,omitzero"`
	Records []uint64           `json:"records,omitempty"` // in the order of what it says
	Detail  bool               `json:"detail,omitempty"`  // not shown on a terminal unless all is wanted
}

// The heads of sections, in the order in which they are shown.
const (
	headWhy      = "WHY"
	headWaits    = "WAITS FOR"
	headWaited   = "WAITED"
	headFirst    = "FIRST"
	headAlike    = "ALIKE"
	headPods     = "PODS"
	headManagers = "MANAGERS"
	headAdmitted = "ADMISSION"
	headEdits    = "EDITED"
	headRefused  = "REFUSED"
	headChanged  = "CHANGED"
	headAlso     = "ALSO"
	headRuledOut = "RULED OUT"
	headTime     = "TIME"
	headClose    = "CLOSE"
	headHistory  = "HISTORY"
)

// say is a sentence that follows from records.
func say(from []Mark, format string, args ...any) Sentence {
	p := phrase(format, args...)
	var s Sentence
	s.set(p)
	for _, m := range from {
		if m.Record != 0 && !slices.Contains(s.Records, uint64(m.Record)) {
			s.Records = append(s.Records, uint64(m.Record))
		}
	}
	if len(from) > 0 {
		s.At = recordjson.Instant(from[len(from)-1].At)
	}
	return s
}

func detail(s Sentence) Sentence {
	s.Detail = true
	return s
}

func (a *Answer) add(head string, sentences ...Sentence) {
	if len(sentences) > 0 {
		a.Sections = append(a.Sections, Section{head, sentences})
	}
}

// mostCited is how many records stand behind one sentence about many tries.
const mostCited = 5

// cite are the marks of the first tries of some.
func cite(tries []*Try, of func(*Try) Mark) []Mark {
	var out []Mark
	for _, t := range tries[:min(len(tries), mostCited)] {
		out = append(out, of(t))
	}
	return marks(out...)
}

func record(at events.Sequence) Mark { return Mark{Record: at} }
