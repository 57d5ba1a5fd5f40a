package show

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
)

// answerOf is an answer with as many sentences under each head.
func answerOf(state history.State, n int, heads ...string) *explain.Answer {
	a := &explain.Answer{
		Kind: "job", Namespace: "prod", Name: "etl", UID: "5b5c63bf-0000", State: string(state), Created: 1, Finished: 2,
		Verdict: explain.Sentence{Text: strings.ToUpper(string(state)) + " after 4m10s"},
	}
	for _, head := range heads {
		s := explain.Section{Head: head}
		for i := range n {
			s.Sentences = append(s.Sentences, explain.Sentence{Text: fmt.Sprintf("what %s says, %d", head, i)})
		}
		a.Sections = append(a.Sections, s)
	}
	return a
}

func writtenAnswer(t *testing.T, a *explain.Answer, all bool) string {
	t.Helper()
	var out bytes.Buffer
	if err := (&Page{Out: &out, Width: 100}).Answer(a, all); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestACalmAnswerIsThreeLines: of a Job that completed there is little to say, unless something happened on its way.
func TestACalmAnswerIsThreeLines(t *testing.T) {
	calm := answerOf(history.StateComplete, 1, "WHY", "ALSO", "TIME")
	text := writtenAnswer(t, calm, false)
	if strings.Count(text, "\n") != 3 || !strings.Contains(text, "what TIME says") || !strings.Contains(text, "-v: 2 more") {
		t.Errorf("a Job that completed:\n%s", text)
	}
	if text := writtenAnswer(t, calm, true); !strings.Contains(text, "what WHY says") || !strings.Contains(text, "what ALSO says") {
		t.Errorf("all of it:\n%s", text)
	}
	for _, happened := range []string{"FIRST", "WAITED", "EDITED", "REFUSED", "HISTORY", "CLOSE"} {
		if text := writtenAnswer(t, answerOf(history.StateComplete, 1, "WHY", happened, "TIME"), false); !strings.Contains(text, "what WHY says") {
			t.Errorf("a Job on whose way there was %s:\n%s", happened, text)
		}
	}
	if text := writtenAnswer(t, answerOf(history.StateFailed, 1, "WHY", "TIME"), false); !strings.Contains(text, "what WHY says") {
		t.Errorf("a Job that failed:\n%s", text)
	}
}

// TestWhatHappenedIsKept: where an answer is too long for a screen, what was ruled out goes first, how close it was and
// where the time went then. What happened to the Job is whole as long as any of these is told.
func TestWhatHappenedIsKept(t *testing.T) {
	heavy := []string{"WHY", "FIRST", "PODS", "EDITED", "REFUSED", "HISTORY"}
	for n := 1; n < 8; n++ {
		text := writtenAnswer(t, answerOf(history.StateFailed, n, slices.Concat(heavy, []string{"ALSO", "TIME", "CLOSE", "RULED OUT"})...), false)
		told := func(head string) int { return strings.Count(text, "what "+head+" says") }
		if lines := strings.Count(text, "\n"); lines > screen {
			t.Errorf("with %d sentences a section there are %d lines:\n%s", n, lines, text)
		}
		for _, head := range heavy {
			if told(head) == 0 || told(head) < n && told("ALSO")+told("TIME")+told("CLOSE")+told("RULED OUT") > 0 {
				t.Errorf("with %d sentences a section %d are told of %s:\n%s", n, told(head), head, text)
			}
		}
		for i, head := range light[1:] {
			if told(light[i]) > 0 && told(head) < n {
				t.Errorf("with %d sentences a section %s is told, and not all of %s:\n%s", n, light[i], head, text)
			}
		}
	}
}
