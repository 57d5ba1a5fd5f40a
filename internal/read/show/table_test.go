package show

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// longNames are as long as Kubernetes lets them be, or as clouds make them.
var longNames = []history.Summary{
	{Namespace: "team-" + strings.Repeat("payments-", 6) + "x", Name: strings.Repeat("settlement-", 5) + "7f", State: history.StateFailed, Gone: true},
	{Namespace: "default", Name: "demo", State: history.StateComplete},
}

func written(t *testing.T, p Page, write func(*Page) error) (text string, widest int) {
	t.Helper()
	var out bytes.Buffer
	p.Out = &out
	if err := write(&p); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return out.String(), widest
}

func writeJobs(p *Page, jobs []history.Summary) error {
	t := p.Jobs()
	for i := range jobs {
		t.Row(&jobs[i])
	}
	return t.Flush()
}

// TestNamesOnATerminalAreCutInTheirMiddle: tables fit, and how a name begins and ends stays to be seen.
func TestNamesOnATerminalAreCutInTheirMiddle(t *testing.T) {
	longNames := slices.Clone(longNames)
	longNames[0].Started, longNames[0].Finished = 1, recordjson.Instant(3*time.Hour+12*time.Minute)
	for _, width := range []int{100, 140} {
		text, widest := written(t, Page{Width: width}, func(p *Page) error { return writeJobs(p, longNames) })
		if widest > width {
			t.Errorf("a table for %d columns has %d:\n%s", width, widest, text)
		}
		for _, end := range []string{"team", "-x ", "settl", "-7f "} {
			if !strings.Contains(text, end) {
				t.Errorf("%q of a name is not shown:\n%s", end, text)
			}
		}
	}
	index := int32(3)
	job := history.Job{Started: 1, Pods: []history.Pod{{
		Name: strings.Repeat("settlement-", 5) + "3-x7f2q", Node: "ip-10-0-113-207.eu-central-1.compute.internal", Phase: "Failed", Gone: true,
		Index: &index, Finished: 1, Restarts: 12, Account: "counted", Containers: []history.ContainerEnd{{Name: "main", ExitCode: 137, Reason: "OOMKilled"}},
	}}}
	text, widest := written(t, Page{Width: 100}, func(p *Page) error { return p.pods(&job) })
	if widest > 100 || !strings.Contains(text, "x7f2q ") || !strings.Contains(text, "main 137 (OOMKilled)") {
		t.Errorf("the table of pods is %d wide:\n%s", widest, text)
	}
}

// TestNamesInAPipeAreWhole: somebody searches for them.
func TestNamesInAPipeAreWhole(t *testing.T) {
	text, _ := written(t, Page{Width: 100, Whole: true}, func(p *Page) error { return writeJobs(p, longNames) })
	for _, j := range longNames {
		if !strings.Contains(text, j.Namespace+" ") || !strings.Contains(text, j.Name+" ") {
			t.Errorf("a name is cut:\n%s", text)
		}
	}
	long := strings.Repeat("settlement-", 8) + "7f"
	text, _ = written(t, Page{Width: 100, Whole: true}, func(p *Page) error {
		return p.Job(&history.Job{Trouble: []history.Failure{{Sequence: 7, Says: "delete pod " + long + ": refused"}}})
	})
	if !strings.Contains(text, long) {
		t.Errorf("a name is broken:\n%s", text)
	}
}

func TestTextsAreCutBetweenWords(t *testing.T) {
	for _, row := range []struct {
		text  string
		width int
		want  string
	}{
		{"create pod #1", 13, "create pod #1"},
		{"delete pod demo-0-abcde: done", 20, "delete pod …"},
		{"delete pod demo-0", 16, "delete pod …"},
		{"demo-0-abcde-fghij is gone", 10, "demo-0-abcde-fghij …"},
		{"write status Failed: failed 2 (BackoffLimitExceeded)", 40, "write status Failed: failed 2 (BackoffL…"},
		{"write status Failed: failed 2 (BackoffLimitExceeded)", 34, "write status Failed: failed 2 …"},
		{"größe größe größe", 12, "größe …"},
		{" demo-0-abcde", 9, " demo-0-abcde"},
	} {
		if got := ClipWords(row.text, row.width); got != row.want {
			t.Errorf("%q in %d columns is %q, want %q", row.text, row.width, got, row.want)
		}
	}
	for width, want := range map[int]string{20: "indexed-2-9nkrt", 11: "index…9nkrt", 2: "i…", 1: "…"} {
		if got := ClipMiddle("indexed-2-9nkrt", width); got != want {
			t.Errorf("in %d columns: %q, want %q", width, got, want)
		}
	}
}

// TestColumnsOfATableThatGoesOn: rows that come one by one stand under each other from the first on.
func TestColumnsOfATableThatGoesOn(t *testing.T) {
	var out bytes.Buffer
	table := &Table{Out: &out, Head: []string{"KIND", "DETAIL"}, Least: []int{len("JobRetired"), 0}, Width: 100}
	for _, kind := range []string{"Decided", "JobRetired"} {
		table.Row(Cell{Text: kind}, Cell{Text: "x"})
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if want := "KIND        DETAIL\nDecided     x\nJobRetired  x\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}
