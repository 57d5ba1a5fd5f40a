package explain

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Answer is the explanation of a Job, a pod, or a CronJob. Its JSON changes only by adding fields; docs/postmortem.md
// has its schema.
type Answer struct {
	Kind      string `json:"kind"` // "job", "pod" or "cronjob"
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`

	// Lives has all Jobs that ever had this name, the oldest first. It is left out for a single Job, and if the UID was
	// given.
	Lives []Life `json:"lives,omitempty"`

	AsOf  history.Place `json:"asOf"`
	State string        `json:"state"`
	// Clock says where the time of AsOf comes from: "controller" if it is the clock of the running controller, "log" if
	// it is the time of the newest record. It is left out for an answer about an earlier time.
	Clock string `json:"clock,omitempty"`
	// LastRecord is the time of the newest record of the log. It is set only if the time of AsOf is from the
	// controller's clock.
	LastRecord recordjson.Instant `json:"lastRecord,omitzero"`
	Verdict    Sentence           `json:"verdict"`

	Schedule   string             `json:"schedule,omitempty"` // for a CronJob: its schedule and its policy
	Created    recordjson.Instant `json:"created,omitzero"`
	Finished   recordjson.Instant `json:"finished,omitzero"`
	Deleted    *Sentence          `json:"deleted,omitempty"`    // when its object was deleted, and by whom
	Gaps       []history.Gap      `json:"gaps,omitempty"`       // times in which nobody watched the cluster
	PassedOver []history.Passed   `json:"passedOver,omitempty"` // times in which its namespace was over its log budget
	// Unrecorded is the number of versions of the object that were seen and got no record. Later records have this
	// number.
	Unrecorded uint64 `json:"unrecorded,omitempty"`
	Begun      string `json:"begun,omitempty"` // what had happened to it before its first record
	// InPart is set if the controller was listing the cluster at that time, so that it did not know every object yet.
	InPart    bool `json:"inPart,omitempty"`
	Truncated bool `json:"truncated,omitempty"`
	// Damaged is the first record that cannot be read. The records after it are left out, up to Resumed.
	Damaged uint64 `json:"damaged,omitempty"`
	// Resumed is the first record after the damage from which the answer continues; absent if there is none.
	Resumed uint64 `json:"resumed,omitempty"`

	// Lead is the head of the first section (such as FIRST), if that section has the cause of the verdict.
	Lead     string    `json:"lead,omitempty"`
	Sections []Section `json:"sections"`
}

// Section is a part of an answer: sentences under a head such as WHY.
type Section struct {
	Head      string     `json:"head"` // the title: WHY, FIRST, ALIKE, …
	Sentences []Sentence `json:"sentences"`
}

// Sentence is one statement of an answer, with the records that prove it.
type Sentence struct {
	Text string `json:"text"`
	// Whole is Text with full messages, where Text cuts quoted ones. It may have several lines.
	Whole   string             `json:"whole,omitempty"`
	At      recordjson.Instant `json:"at,omitzero"`
	Records []uint64           `json:"records,omitempty"` // in the order in which Text uses them
	Detail  bool               `json:"detail,omitempty"`  // a terminal shows it only if the user asks for everything
	// Unsaid lists phrases in Text that say what no record tells, such as "by whom is unknown". Packages that make
	// answers use it to say each phrase only once.
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

// Say returns a sentence with the formatted text, and the records from that prove it. The time of the sentence is that
// of the last record.
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

// Marks returns the records that the sentence cites, without their times.
func (s *Sentence) Marks() (from []Mark) {
	for _, r := range s.Records {
		from = append(from, RecordMark(events.Sequence(r)))
	}
	return from
}

// Detail returns s marked as a detail, which a terminal shows only if the user asks for everything.
func Detail(s Sentence) Sentence {
	s.Detail = true
	return s
}

// Add adds a section with the head (its title) and the sentences to the answer. It does nothing if there are no
// sentences.
func (a *Answer) Add(head string, sentences ...Sentence) {
	if len(sentences) > 0 {
		a.Sections = append(a.Sections, Section{head, sentences})
	}
}

// MostCited is the largest number of records that a sentence about many tries (pods) cites.
const MostCited = 5

// Marks returns ms, the records that a sentence cites, without marks that have no record, and without consecutive
// duplicates.
func Marks(ms ...Mark) []Mark {
	var out []Mark
	for _, m := range ms {
		if m.Record != 0 && (len(out) == 0 || out[len(out)-1].Record != m.Record) {
			out = append(out, m)
		}
	}
	return out
}

// Because returns the reason that a verdict gives: the text after ": ". The text before it says how the Job ended and
// how long it took.
func Because(verdict *Sentence) Passage {
	return verdict.Passage().Each(func(text string) string {
		if _, why, is := strings.Cut(text, ": "); is {
			return why
		}
		return text
	})
}

// Fewer marks all sentences after the first most as details, which a terminal shows only on request.
func Fewer(s []Sentence, most int) []Sentence {
	for i := most; i < len(s); i++ {
		s[i].Detail = true
	}
	return s
}

// PutFirst moves one section to the front, next to the verdict: the first of the named heads (titles) that the answer
// has and that is not a detail.
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
