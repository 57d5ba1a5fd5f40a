package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestLinesStandInTheOrderOfTheRecords: whichever command is faster, with the subscriber's heading above its first
// line.
func TestLinesStandInTheOrderOfTheRecords(t *testing.T) {
	written := [2][]string{
		log: {
			"SEQ  TIME  KIND        OBJECT  DETAIL", "1    t     LogCreated  controller  x", "2    t     Decided     backoff  x",
			"3    t     Decided     plain   x", "4    t     PodAdded    backoff-abcde  x", "5    t     JobRetired  backoff  x",
		},
		subscriber: {
			"SEQ  TIME  KIND        OBJECT  DETAIL", "— day —", "2    t     Decided     backoff  x", "4    t     PodAdded    backoff-abcde  x",
			"5    t     JobRetired  backoff  x",
		},
	}
	const want = "S 1 2 │S │— │2 3 4 │4 5 │5"
	for name, order := range map[string]func(i int) source{
		"the log is faster":        func(i int) source { return source(i / 6) },
		"the subscriber is faster": func(i int) source { return 1 - source(min(i/5, 1)) },
		"they take turns":          func(i int) source { return source(i % 2) },
	} {
		var got []string
		m := &merged{shared: ofFailed, say: func(format string, args ...any) {
			got = append(got, firstWord(fmt.Sprintf(format, args...)))
		}}
		next := [2]int{}
		for i := range 11 {
			from := order(i)
			m.add(from, written[from][next[from]])
			next[from]++
		}
		if m.rest(); strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, " "), want)
		}
	}
}

// firstWord returns the first word of a line, after the mark if it has one; for a heading, the first letter.
func firstWord(line string) string {
	line, marked := strings.CutPrefix(line, beside)
	word, _, _ := strings.Cut(strings.Replace(line, "SEQ", "S", 1), " ")
	if marked {
		return strings.TrimSpace(beside) + word
	}
	return word
}

func TestWhatTheSubscriberIsToShow(t *testing.T) {
	for line, want := range map[string]bool{
		"18   16:29:42.103  Decided         backoff        create pod #1": true,
		"29   16:29:42.183  PodAdded        backoff-9fxts  Pending":       true,
		"30   16:29:42.190  PodChanged      backoff-9fxts  Pending":       false,
		"50   16:29:42.687  Decided         plain          write status":  false,
		"SEQ  TIME          KIND            OBJECT         DETAIL":        false,
	} {
		if _, kind, object := fields(line); ofFailed(kind, object) != want {
			t.Errorf("%q: %t", line, !want)
		}
	}
}
