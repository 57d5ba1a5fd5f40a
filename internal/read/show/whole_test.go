package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestATextThatIsCutIsWholeWhenAllIsWanted: its lines stay lines, each behind a bar, and nothing in them can steer a
// terminal.
func TestATextThatIsCutIsWholeWhenAllIsWanted(t *testing.T) {
	a := &explain.Answer{
		Kind: "job", Namespace: "n", Name: "j", UID: "12345678", Verdict: explain.Sentence{Text: "FAILED"},
		Sections: []explain.Section{{Head: "FIRST", Sentences: []explain.Sentence{
			{Text: `main wrote: "a" … 1 line … "c"`, Whole: "main wrote:\na\r\n\tb \x1b[31m\nc", Records: []uint64{7}},
			{Text: "nothing is cut", Records: []uint64{8}},
		}}},
	}
	for all, want := range map[bool]string{
		false: "FIRST      main wrote: \"a\" … 1 line … \"c\"  #7\n           nothing is cut  #8\n",
		true: "FIRST      main wrote:  #7\n           | a\n           |     b \\x1b[31m\n           | c\n" +
			"           nothing is cut  #8\n",
	} {
		var out bytes.Buffer
		if err := (&Page{Out: &out, Width: 80}).Answer(a, all); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(out.String(), "\n\n"); got != want {
			t.Errorf("with all %t it shows\n%s\nwant\n%s", all, got, want)
		}
	}
}

// TestNothingIsCutInAPipe: what others wrote stands whole in a pipe, in each list and answer, unless a width was asked
// for. A terminal has the words that are cut.
func TestNothingIsCutInAPipe(t *testing.T) {
	const cut, whole = "0/3 nodes …", "0/3 nodes are available: 3 Insufficient cpu"
	sentence := explain.Sentence{Text: "waits: " + cut, Whole: "waits: " + whole}
	for name, write := range map[string]func(p *Page) error{
		"explain": func(p *Page) error {
			return p.Answer(&explain.Answer{Kind: "job", Namespace: "n", Name: "j", UID: "12345678", Verdict: sentence}, false)
		},
		"a section": func(p *Page) error {
			return p.Answer(&explain.Answer{Kind: "job", Namespace: "n", Name: "j", UID: "12345678", Sections: []explain.Section{{
				Head: "WAITS FOR", Sentences: []explain.Sentence{sentence},
			}}}, false)
		},
		"why-not": func(p *Page) error { return p.Sentences([]explain.Sentence{sentence}) },
		"attempts": func(p *Page) error {
			return p.Attempts([]attempts.Attempt{{Pod: "p", How: sentence.Text, Whole: sentence.Whole}}, "1 try")
		},
		"failures": func(p *Page) error {
			return p.Failures(&failures.Failures{
				Items: []failures.Trouble{{Sort: failures.SortFailed, Name: "j", Why: sentence.Text, Whole: sentence.Whole}}, Causes: []failures.Cause{{Jobs: 1}},
			})
		},
		"get jobs": func(p *Page) error {
			table := p.JobsWhy()
			table.Row(&history.Summary{Name: "j", Why: &history.Why{Text: sentence.Text, Whole: sentence.Whole}})
			return table.Flush()
		},
	} {
		for _, row := range []struct {
			where       string
			page        Page
			says, never string
		}{
			{"a pipe", Page{Whole: true, Width: 100}, whole, cut}, {"a terminal", Page{Width: 100}, cut, whole},
			{"a pipe of a width", Page{Whole: true, Asked: true, Width: 100}, cut, whole},
		} {
			var out bytes.Buffer
			row.page.Out = &out
			if err := write(&row.page); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.Contains(got, row.says) || strings.Contains(got, row.never) {
				t.Errorf("%s in %s is\n%s", name, row.where, got)
			}
		}
	}
}
