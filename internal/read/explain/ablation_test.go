package explain_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestNoSentenceOutlivesItsRecords takes away each record that an answer cites, one at a time. A sentence that cited it
// must not stand on the rest: it says something else, or another record takes the place of the one that is missing. Of
// a hundred sentences one may have two records that each prove it.
func TestNoSentenceOutlivesItsRecords(t *testing.T) {
	for _, dir := range logs(t) {
		src := openRecorded(t, dir)
		sentences, twice := 0, []string(nil)
		for _, s := range src.jobs() {
			whole, err := job.Read(t.Context(), src, s, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			answer := whole.Answer()
			for _, cited := range citations(&answer) {
				src.without = map[events.Sequence]bool{events.Sequence(cited): true}
				less, err := job.Read(t.Context(), src, s, history.Point{})
				if errors.Is(err, history.ErrNoJob) {
					src.without = nil
					continue
				}
				if err != nil {
					t.Fatalf("%s without record %d: %v", s, cited, err)
				}
				now := less.Answer() // it reads what its CronJob's records say
				src.without = nil
				for _, x := range citing(&answer, cited) {
					sentences++
					if slices.ContainsFunc(all(&now), func(y explain.Sentence) bool { return y.Text == x.Text && within(y.Records, x.Records) }) {
						twice = append(twice, fmt.Sprintf("%s: %s/%s without record %d still says %q", filepath.Base(dir), answer.Namespace, answer.Name, cited, x.Text))
					}
				}
			}
		}
		if len(twice)*100 > sentences {
			t.Errorf("%d of %d: %s", len(twice), sentences, strings.Join(twice, "\n"))
		}
		if sentences == 0 {
			t.Errorf("%s: no sentence of it cites a record", dir)
		}
	}
}

// citations are the records that an answer cites.
func citations(a *explain.Answer) []uint64 {
	var out []uint64
	for _, x := range all(a) {
		out = append(out, x.Records...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func all(a *explain.Answer) []explain.Sentence {
	out := []explain.Sentence{a.Verdict}
	for _, s := range a.Sections {
		out = append(out, s.Sentences...)
	}
	return out
}

func within(some, all []uint64) bool {
	return !slices.ContainsFunc(some, func(r uint64) bool { return !slices.Contains(all, r) })
}

// citing are the sentences that cite a record.
func citing(a *explain.Answer, record uint64) []explain.Sentence {
	var out []explain.Sentence
	for _, x := range all(a) {
		if slices.Contains(x.Records, record) {
			out = append(out, x)
		}
	}
	return out
}
