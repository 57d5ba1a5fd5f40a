package job

import (
	"errors"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhichLinksAreTaken: a name, and an address with fields that there are.
func TestWhichLinksAreTaken(t *testing.T) {
	for text, want := range map[string]bool{
		"Logs=https://logs.example/?pod={{.Pod}}&from={{.From}}": true,
		"Logs=https://logs.example/":                             true,
		"Logs":                                                   false,
		"=https://logs.example/":                                 false,
		"Logs=logs.example/{{.Pod}}":                             false,
		"Logs=https://logs.example/{{.Pod":                       false,
		"Logs=https://logs.example/{{.Nothing}}":                 false,
	} {
		l, err := ParseLink(text)
		if is := err == nil; is != want || is != (l.Name == "Logs") || !is && !errors.Is(err, errLink) {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
}

// TestLinksOfTries: an address has the time in which a try ran, a second more on both sides, and the first of its
// containers that failed.
func TestLinksOfTries(t *testing.T) {
	l, err := ParseLink("logs=x://{{.Namespace}}/{{.Job}}/{{.Pod}}/{{.UID}}/{{.Node}}/{{.Container}}?{{.FromMillis}}-{{.ToMillis}}&{{.From}}&{{.To}}")
	if err != nil {
		t.Fatal(err)
	}
	fails := try.Try{
		Pod: "demo a", UID: "u1", Node: "n/1", Phase: events.PodFailed, Ended: whentest.Seen(9, 9), Running: whentest.Sec(3),
		Finished: whentest.Sec(8),
		Containers: []events.ContainerEnd{whentest.Exit("init", 0, nil), whentest.Exit("main", 2, nil), whentest.Exit("side",
			3, nil)},
	}
	unheard := try.Try{Pod: "demo-b", UID: "u2", Phase: events.PodFailed, Created: whentest.Sec(2),
		Started: whentest.Seen(4, 4), Gone: whentest.Seen(9, 12)}
	goesOn := try.Try{Pod: "demo-c", UID: "u3", Created: whentest.Sec(6), Phase: events.PodRunning}
	well := try.Try{Pod: "demo-d", UID: "u4", Phase: events.PodSucceeded, Ended: whentest.Seen(3, 5),
		Running: whentest.Sec(1), Finished: whentest.Sec(5)}
	point := history.Place{Sequence: 20, Time: whentest.Recorded(20)}
	for _, row := range []struct {
		name  string
		kind  string
		uid   string
		tries []*try.Try
		want  []string
	}{
		{"of those that failed", "job", "", []*try.Try{&well, &fails, &unheard}, []string{
			"demo a  x://ns/j/demo+a/u1/n%2F1/main?1780000002000-1780000009000&2026-05-28T20%3A26%3A42Z&2026-05-28T20%3A26%3A49Z",
			"demo-b  x://ns/j/demo-b/u2//?1780000003000-1780000013000&2026-05-28T20%3A26%3A43Z&2026-05-28T20%3A26%3A53Z",
		}},
		{"of all, where none failed", "job", "", []*try.Try{&well, &goesOn}, []string{
			"demo-d  x://ns/j/demo-d/u4//?1780000000000-1780000006000&2026-05-28T20%3A26%3A40Z&2026-05-28T20%3A26%3A46Z",
			"demo-c  x://ns/j/demo-c/u3//?1780000005000-1780000021000&2026-05-28T20%3A26%3A45Z&2026-05-28T20%3A27%3A01Z",
		}},
		{"of the pod", "pod", "u4", []*try.Try{&well, &fails}, []string{
			"demo-d  x://ns/j/demo-d/u4//?1780000000000-1780000006000&2026-05-28T20%3A26%3A40Z&2026-05-28T20%3A26%3A46Z",
		}},
	} {
		c := &Case{Case: &jobcase.Case{Tries: row.tries}}
		c.Job.Namespace, c.Job.Name, c.Job.AsOf = "ns", "j", point
		a := explain.Answer{Kind: row.kind, UID: row.uid}
		if err := c.Link(&a, []Link{l}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range a.Sections[0].Sentences {
			got = append(got, s.Text)
		}
		if text := strings.Join(got, "\n"); a.Sections[0].Head != "LOGS" || text != strings.Join(row.want, "\n") {
			t.Errorf("%s: %s\n%s", row.name, a.Sections[0].Head, text)
		}
	}
	many := &Case{Case: &jobcase.Case{}}
	for range explain.MostCited + 2 {
		many.Tries = append(many.Tries, &try.Try{Pod: "p", Phase: events.PodFailed, Ended: whentest.Seen(9, 9)})
	}
	a := explain.Answer{Kind: "job"}
	if err := many.Link(&a, []Link{l}); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, s := range a.Sections[0].Sentences {
		if !s.Detail {
			shown++
		}
	}
	if n := len(a.Sections[0].Sentences); n != explain.MostCited || shown != mostLinked {
		t.Errorf("%d links, %d of them shown", n, shown)
	}
}
