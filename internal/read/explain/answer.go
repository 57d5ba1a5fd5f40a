package explain

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Answer is the explanation of a Job, a pod, or a CronJob. Its JSON changes only by growing; docs/postmortem.md has its
// schema.
type Answer struct {
	Kind      string `json:"kind"` // "job", "pod" or "cronjob"
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`

	// The Jobs of this name, the oldest first; left out for a single Job, and if the UID was given.
	Lives []Life `json:"lives,omitempty"`

	AsOf  history.Place `json:"asOf"`
	State string        `json:"state"`
	// Clock names the clock of asOf when asOf is now: "controller" for the clock of the controller that writes the log,
	// "log" for the time of the newest record if no controller was asked. It is left out if another time was asked for.
	Clock string `json:"clock,omitempty"`
	// With Clock "controller": the time of the newest record of the log.
	LastRecord recordjson.Instant `json:"lastRecord,omitzero"`
	Verdict    Sentence           `json:"verdict"`

	Schedule   string             `json:"schedule,omitempty"` // of a CronJob: its schedule and its policy
	Created    recordjson.Instant `json:"created,omitzero"`
	Finished   recordjson.Instant `json:"finished,omitzero"`
	Deleted    *Sentence          `json:"deleted,omitempty"`    // when its object was deleted, and by whom
	Gaps       []history.Gap      `json:"gaps,omitempty"`       // gaps that overlap its time
	PassedOver []history.Passed   `json:"passedOver,omitempty"` // log budget exceeded within its time
	// Number of observed versions that were not recorded, as its records tell.
	Unrecorded uint64 `json:"unrecorded,omitempty"`
	Begun      string `json:"begun,omitempty"` // what had happened before its first record
	// The controller had no full view of the cluster at that time.
	InPart    bool `json:"inPart,omitempty"`
	Truncated bool `json:"truncated,omitempty"`
	// The first unreadable record; what follows it is left out.
	Damaged uint64 `json:"damaged,omitempty"`
	// The first record behind the damage, where the history continues.
	Resumed uint64 `json:"resumed,omitempty"`

	// The head of the first section, if that section has the cause of the verdict.
	Lead     string    `json:"lead,omitempty"`
	Sections []Section `json:"sections"`
}

// Section is the sentences under one head.
type Section struct {
	Head      string     `json:"head"` // WHY, FIRST, ALIKE, …
	Sentences []Sentence `json:"sentences"`
}

// Sentence is a statement, and the records that it follows from.
type Sentence struct {
	Text string `json:"text"`
	// Text with nothing cut out of quoted messages; may have several lines.
	Whole   string             `json:"whole,omitempty"`
	At      recordjson.Instant `json:"at,omitzero"`
	Records []uint64           `json:"records,omitempty"` // in the order in which Text uses them
	Detail  bool               `json:"detail,omitempty"`  // shown on a terminal only if everything is requested
	// What nobody records about what it says, in the words in which Text says so. Only for those who make answers.
	Unsaid []string `json:"-"`
}

// The heads of sections, in the order of printing.
const (
	HeadWhy      = "WHY"
	HeadWaits    = "WAITS FOR"
	HeadWaited   = "WAITED"
	HeadFirst    = "FIRST"
	HeadAlike    = "ALIKE"
	HeadPods     = "PODS"
	HeadManagers = "MANAGERS"
	HeadAdmitted = "ADMISSION"
	HeadEdits    = "EDITED"
	HeadRefused  = "REFUSED"
	HeadChanged  = "CHANGED"
	HeadAlso     = "ALSO"
	HeadRuledOut = "RULED OUT"
	HeadTime     = "TIME"
	HeadClose    = "CLOSE"
	HeadHistory  = "HISTORY"
)

// Say returns a sentence that follows from the records of from. Its time is the time of the last of them.
func Say(from []Mark, format string, args ...any) Sentence {
	p := Phrase(format, args...)
	var s Sentence
	s.Set(p)
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

// Marks returns the records of a sentence.
func (s *Sentence) Marks() (from []Mark) {
	for _, r := range s.Records {
		from = append(from, RecordMark(events.Sequence(r)))
	}
	return from
}

// Detail returns the sentence as a detail, which a terminal shows only if everything is requested.
func Detail(s Sentence) Sentence {
	s.Detail = true
	return s
}

// Add adds a section, unless it has no sentences.
func (a *Answer) Add(head string, sentences ...Sentence) {
	if len(sentences) > 0 {
		a.Sections = append(a.Sections, Section{head, sentences})
	}
}

// MostCited is the maximum number of records that a sentence about many tries cites.
const MostCited = 5

// Marks returns the given marks without those that have no record, and without consecutive duplicates.
func Marks(ms ...Mark) []Mark {
	var out []Mark
	for _, m := range ms {
		if m.Record != 0 && (len(out) == 0 || out[len(out)-1].Record != m.Record) {
			out = append(out, m)
		}
	}
	return out
}

// Because returns a verdict without the part before ": ", which has the Job's duration.
func Because(verdict *Sentence) Passage {
	return verdict.Passage().Each(func(text string) string {
		if _, why, is := strings.Cut(text, ": "); is {
			return why
		}
		return text
	})
}

// Fewer marks the sentences after the first most as details.
func Fewer(s []Sentence, most int) []Sentence {
	for i := most; i < len(s); i++ {
		s[i].Detail = true
	}
	return s
}

// PutFirst moves the first existing section of heads to the front, next to the verdict.
func (a *Answer) PutFirst(heads ...string) {
	for _, head := range heads {
		i := slices.IndexFunc(a.Sections, func(s Section) bool { return s.Head == head && !s.Sentences[0].Detail })
		if i < 0 {
			continue
		}
		s := a.Sections[i]
		a.Sections = slices.Insert(slices.Delete(a.Sections, i, i+1), 0, s)
		a.Lead = head
		return
	}
}
