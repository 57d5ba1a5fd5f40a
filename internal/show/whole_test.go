package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/explain"
)

// TestATextThatIsCutIsWholeWhenAllIsWanted: its lines stay lines, each behind a bar, and nothing in them can steer a terminal.
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
