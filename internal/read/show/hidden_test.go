package show

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

var foot = regexp.MustCompile(`\(-v shows (.*)\)\n$`)

// TestTheFootNamesWhatIsHidden: of each Job of the recorded incidents, and in each width, the last line of an answer
// names each section of which -v shows more, with how many sentences more that are, or their sum where the names do not
// fit; it is there when and only when something is hidden that a record shows.
func TestTheFootNamesWhatIsHidden(t *testing.T) {
	named, summed, none := 0, 0, 0
	log := historytest.Recorded(t, "delegated")
	src := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log)})}
	page, err := src.Jobs(t.Context(), history.JobsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range page.Items {
		c, err := job.Read(t.Context(), src, events.JobStream(types.UID(page.Items[i].UID)), history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Compare(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		if _, left := calm(&a); left > 0 {
			continue // it has a line of its own
		}
		for _, width := range []int{60, 80, 100, 240} {
			says, hidden, sum := footOf(t, &a, width)
			switch {
			case sum == 0 && says == "":
				none++
			case says == words.Count(sum, "sentence")+" more" && headWidth+len("(-v shows more: )")+len(hidden) > width:
				summed++
			case says == "more: "+hidden:
				named++
			default:
				t.Errorf("%s in %d columns: the foot says %q, and hidden is %q", a.Name, width, says, hidden)
			}
		}
	}
	if named < 20 || none < 20 {
		t.Errorf("%d feet name what is hidden, %d their sum, %d answers have none", named, summed, none)
	}
}

// footOf is what the last line of an answer says of -v, and which sentences with a record the answer itself lacks.
func footOf(t *testing.T, a *explain.Answer, width int) (says, hidden string, sum int) {
	t.Helper()
	var out bytes.Buffer
	if err := (&Page{Out: &out, Width: width}).Answer(a, false); err != nil {
		t.Fatal(err)
	}
	if m := foot.FindStringSubmatch(out.String()); m != nil {
		says = m[1]
	}
	joined := func(s string) string { return strings.Join(strings.Fields(s), "") } // long words are broken
	text := joined(out.String())
	var parts []string
	for _, s := range a.Sections {
		n := 0
		for _, x := range s.Sentences {
			if len(x.Records) > 0 && !strings.Contains(text, joined(x.Text+citation(x.Records))) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, s.Head+" "+strconv.Itoa(n))
		}
		sum += n
	}
	return says, strings.Join(parts, ", "), sum
}

// TestASentenceThatNoRecordShowsIsNotCounted: it tells of nothing that happened.
func TestASentenceThatNoRecordShowsIsNotCounted(t *testing.T) {
	a := answerOf(history.StateFailed, 1, "WHY", "CHANGED")
	a.Sections[1].Sentences[0].Detail = true
	if text := writtenAnswer(t, a, false); strings.Contains(text, "-v") || strings.Contains(text, "CHANGED") {
		t.Errorf("nothing that a record shows is hidden:\n%s", text)
	}
	a.Sections[1].Sentences[0].Records = []uint64{7}
	if text := writtenAnswer(t, a, false); !strings.HasSuffix(text, "\n           (-v shows more: CHANGED 1)\n") {
		t.Errorf("one sentence is hidden:\n%s", text)
	}
	if text := writtenAnswer(t, a, true); !strings.Contains(text, "what CHANGED says") || strings.Contains(text, "-v") {
		t.Errorf("all of it:\n%s", text)
	}
}
