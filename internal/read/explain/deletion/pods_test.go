package deletion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// removedTry is a pod whose deletion was seen in second 20, and that ended in second 26.
func removedTry(name string, by try.By, why string) *try.Try {
	n := events.Sequence(20)
	return &try.Try{Pod: name, Index: events.NoIndex, Seen: whentest.Seen(5, 5), Asked: whentest.Sec(20),
		AskedSeen: whentest.Seen(n, 20),
		Ended:     whentest.Seen(30, 26), Judged: &try.Ending{By: by, Why: why, Marks: explain.Marks(whentest.Seen(n, 20))}}
}

// deletionCase is a Job that runs as of second 90.
func deletionCase(tries ...*try.Try) *jobcase.Case {
	c := &jobcase.Case{Tries: tries, Misses: &explain.Misses{}, Src: &whentest.Log{}}
	c.Job.Namespace, c.Job.Name, c.Job.State = "ns", "demo", history.StateRunning
	c.Job.Created, c.Job.AsOf.Time = whentest.Recorded(1), whentest.Recorded(90)
	return c
}

// TestWhenAPodWasAskedToGo: by whose clock, how long it was given, and how long it took, as far as each is known.
func TestWhenAPodWasAskedToGo(t *testing.T) {
	grace := int64(30)
	for _, row := range []struct {
		name   string
		change func(*try.Try)
		want   string
	}{
		{"it was not", func(x *try.Try) { x.Asked = 0 }, ""},
		{"at the latest", nil, " (asked for at 20:27:00 at the latest)"},
		{"exactly", func(x *try.Try) { x.AskedExact = true }, " (asked for at 20:27:00)"},
		{"by force", func(x *try.Try) { x.Forced = true }, " (asked for at 20:27:00, by force: no time to stop, took 6s)"},
		{"by force, with a grace period", func(x *try.Try) { x.Forced, x.Grace = true, &grace },
			" (asked for at 20:27:00, by force: no time to stop, took 6s)"},
		{"given time", func(x *try.Try) { x.Grace = &grace }, " (asked for at 20:27:00, given 30s to stop, took 6s)"},
		{"given time, exactly", func(x *try.Try) { x.Grace, x.AskedExact = &grace, true },
			" (asked for at 20:27:00, given 30s to stop, took 6s)"},
		{"it goes on", func(x *try.Try) { x.Grace, x.Ended = &grace, explain.Mark{} },
			" (asked for at 20:27:00, given 30s to stop)"},
		{"it ended before that was seen", func(x *try.Try) { x.Grace, x.AskedSeen = &grace, whentest.Seen(31, 27) },
			" (asked for at 20:27:00, given 30s to stop)"},
		{"both are one record", func(x *try.Try) { x.Grace, x.AskedSeen = &grace, whentest.Seen(30, 26) },
			" (asked for at 20:27:00, given 30s to stop)"},
	} {
		x := removedTry("p", try.ByClient, "")
		if row.change != nil {
			row.change(x)
		}
		if got := AskedText(deletionCase(x), x); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestPodsThatWereRemovedAlike are told together: by whom, why, and whether by force. Those that ended by themselves are
// not told.
func TestPodsThatWereRemovedAlike(t *testing.T) {
	forced := removedTry("f", try.ByUs, "no more wanted")
	forced.Forced = true
	later := removedTry("l", try.ByUs, "no more wanted")
	later.Asked = whentest.Sec(21)
	us := func(name string) *try.Try { return removedTry(name, try.ByUs, "no more wanted") }
	said := (&try.Ending{By: try.ByUs, Why: "no more wanted"}).Tell("", false)
	const latest = " (asked for at 20:27:00 at the latest)"
	for _, row := range []struct {
		name  string
		tries []*try.Try
		want  []string
	}{
		{"none", nil, nil}, {"by themselves", []*try.Try{removedTry("a", try.ByItself, ""),
			removedTry("b", try.BySignal, ""), removedTry("c", try.ByNobody, "")}, nil},
		{"one", []*try.Try{us("a")}, []string{"a: " + said + latest}},
		{"two", []*try.Try{us("a"), us("b")}, []string{"a and b: " + said + latest}},
		{"three", []*try.Try{us("a"), us("b"), us("c")}, []string{"a and 2 other pods: " + said + latest}},
		{"two, and one by force", []*try.Try{us("a"), forced, us("b")},
			[]string{"a and b: " + said + latest,
				"f: " + said + " (asked for at 20:27:00, by force: no time to stop, took 6s)"}},
		{"two at other times", []*try.Try{us("a"), later},
			[]string{"a and l: " + said + " (the first: asked for at 20:27:00 at the latest)"}},
		{"two for other reasons", []*try.Try{us("a"), removedTry("b", try.ByUs, "duplicate")},
			[]string{"a: " + said + latest, "b: " + strings.Replace(said, "no more wanted", "duplicate", 1) + latest}},
		{"two by others", []*try.Try{us("a"), removedTry("b", try.ByController, "no more wanted")},
			[]string{"a: " + said + latest, "b: " + (&try.Ending{By: try.ByController, Why: "no more wanted"}).Tell("",
				false) + latest}},
	} {
		var got []string
		for _, s := range removedPods(deletionCase(row.tries...), nil) {
			if got = append(got, s.Text); len(s.Records) == 0 {
				t.Errorf("%s: %q has no record", row.name, s.Text)
			}
		}
		if strings.Join(got, "\n") != strings.Join(row.want, "\n") {
			t.Errorf("%s:\n\t%s\nwant\n\t%s", row.name, strings.Join(got, "\n\t"), strings.Join(row.want, "\n\t"))
		}
	}
	unsaid := removedTry("a", try.ByClient, "")
	unsaid.Judged.Unsaid = explain.ByWhom
	for told, want := range map[string]bool{"": true, explain.ByWhom: false, "something else": true} {
		all := removedPods(deletionCase(unsaid), []string{told})
		if len(all) != 1 || strings.Contains(all[0].Text, explain.ByWhom) != want {
			t.Errorf("the verdict says %q is unknown: %+v", told, all)
		}
	}
}

// TestPodsThatAFinalizerKept: how long, or that it keeps them still, once the Job is over.
func TestPodsThatAFinalizerKept(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*jobcase.Case, *try.Try)
		want   string
		from   string
	}{
		{"until it was gone", func(_ *jobcase.Case, x *try.Try) { x.Gone = whentest.Seen(40, 35) },
			"p was kept 10s by finalizer a/b", "[25 40]"},
		{"still", func(c *jobcase.Case, _ *try.Try) { c.Job.State = history.StateComplete }, "p is kept by finalizer a/b",
			"[25]"},
		{"still, and the Job goes on", func(*jobcase.Case, *try.Try) {}, "", ""},
		{"by none", func(c *jobcase.Case, x *try.Try) { x.Kept, c.Job.State = nil, history.StateComplete }, "", ""},
	} {
		x := &try.Try{Pod: "p", Seen: whentest.Seen(5, 5), Kept: []string{"a/b", "c/d"}, KeptAt: whentest.Seen(25, 25),
			Judged: &try.Ending{By: try.ByItself}}
		c := deletionCase(x)
		row.change(c, x)
		text, from := "", ""
		for _, s := range removedPods(c, nil) {
			text, from = text+s.Text, fmt.Sprint(s.Records)
		}
		if text != row.want || from != row.from {
			t.Errorf("%s: %q by %s, want %q by %s", row.name, text, from, row.want, row.from)
		}
	}
}

// TestContainersOfAStoppedPod: which had done their work, and which ran on; of a pod that succeeded, which ended first
// and which last, if that was 5 s later.
func TestContainersOfAStoppedPod(t *testing.T) {
	exit := func(name string, code int32, at float64, kind events.ContainerKind) events.ContainerEnd {
		return whentest.Exit(name, code, func(k *events.ContainerEnd) {
			if k.Kind = kind; at != 0 {
				k.Finished = whentest.Sec(at)
			}
		})
	}
	const regular = events.RegularContainer
	for _, row := range []struct {
		name      string
		all       []events.ContainerEnd
		succeeded bool
		by        try.By
		want      string
	}{
		{"one had done its work", []events.ContainerEnd{exit("main", 0, 10, regular), exit("proxy", 143, 25, regular)},
			false, try.ByClient,
			"p: main had ended with 0 at 20:26:50; proxy ran on"},
		{"one succeeded just as it was stopped", []events.ContainerEnd{exit("main", 0, 19, regular),
			exit("proxy", 143, 25, regular)}, false, try.ByClient, ""},
		{"one had failed", []events.ContainerEnd{exit("main", 1, 10, regular), exit("proxy", 143, 25, regular)}, false,
			try.ByClient, ""},
		{"none runs on", []events.ContainerEnd{exit("main", 0, 10, regular)}, false, try.ByClient, ""},
		{"an init container", []events.ContainerEnd{exit("init", 0, 10, events.InitContainer),
			exit("main", 143, 25, regular)}, false, try.ByClient, ""},
		{"when is not known", []events.ContainerEnd{exit("main", 0, 0, regular), exit("proxy", 143, 25, regular)}, false,
			try.ByClient, ""},
		{"by itself", []events.ContainerEnd{exit("main", 0, 10, regular), exit("proxy", 143, 25, regular)}, false,
			try.ByItself, ""},
		{"it succeeded, the sidecar 5 s later", []events.ContainerEnd{exit("main", 0, 10, regular),
			exit("proxy", 0, 15, regular)}, true, try.ByItself,
			"p: main ended with 0 at 20:26:50, proxy 5s later"},
		{"it succeeded, the sidecar less later", []events.ContainerEnd{exit("main", 0, 10, regular),
			exit("proxy", 0, 14.9, regular)}, true, try.ByItself, ""},
		{"it succeeded, and an init container lasted",
			[]events.ContainerEnd{exit("main", 0, 10, regular),
				exit("init", 0, 90, events.InitContainer)}, true, try.ByItself, ""},
		{"it succeeded alone", []events.ContainerEnd{exit("main", 0, 10, regular)}, true, try.ByItself, ""},
		{"it succeeded, and when is not known", []events.ContainerEnd{exit("main", 0, 0, regular),
			exit("proxy", 0, 90, regular)}, true, try.ByItself, ""},
	} {
		x := removedTry("p", row.by, "")
		x.Containers, x.Newest, x.Shown = row.all, whentest.Seen(30, 26), whentest.Seen(30, 26)
		if row.succeeded {
			x.Phase, x.Asked, x.AskedSeen = events.PodSucceeded, 0, explain.Mark{}
		}
		s, is := ranOn(deletionCase(x), x)
		if s.Text != row.want || is != (row.want != "") || is && len(s.Records) != 1 {
			t.Errorf("%s: %t, %q by %v, want %q", row.name, is, s.Text, s.Records, row.want)
		}
	}
}

// TestWhomToAsk: the field managers that edited the spec of a Job, if somebody unknown deleted it or a pod of it.
// Controllers and the creator alone are no hint.
func TestWhomToAsk(t *testing.T) {
	edit := func(record events.Sequence, by string) jobcase.Edit {
		e := jobcase.Edit{At: whentest.Seen(record, float64(record)), Before: &events.JobSpec{}, After: &events.JobSpec{}}
		if by != "" {
			e.By = &events.Edit{Manager: by}
		}
		return e
	}
	for _, row := range []struct {
		name  string
		by    try.By
		maker string
		edits []jobcase.Edit
		want  string
		from  string
	}{
		{"an edit", try.ByClient, "", []jobcase.Edit{edit(8, "kubectl-edit")}, "kubectl-edit edited it at 20:26:48", "[8]"},
		{"its creator, and an edit", try.ByClient, "helm", []jobcase.Edit{edit(8, "kubectl-edit")},
			"helm made it, kubectl-edit edited it at 20:26:48", "[2 8]"},
		{"its creator alone", try.ByClient, "helm", nil, "", ""},
		{"an edit by nobody known", try.ByClient, "helm", []jobcase.Edit{edit(8, "")}, "", ""},
		{"edits by controllers", try.ByClient, "helm", []jobcase.Edit{edit(8, events.BuiltinManager), edit(9, ownManager)},
			"", ""},
		{"by us", try.ByUs, "", []jobcase.Edit{edit(8, "kubectl-edit")}, "", ""},
		{"six edits", try.ByClient, "helm", []jobcase.Edit{edit(8, "a"), edit(9, "a"), edit(10, "b"), edit(11, "c"),
			edit(12, "d")},
			"helm made it, a edited it at 20:26:48, a edited it at 20:26:49, b edited it at 20:26:50, c edited it at 20:26:51", "[2 8 9 10 11]"},
	} {
		c := deletionCase(removedTry("p", row.by, ""))
		c.Added, c.Edits = whentest.Seen(2, 2), row.edits
		if row.maker != "" {
			c.Maker = &events.Edit{Manager: row.maker}
		}
		text, from := "", ""
		for _, s := range managers(c) {
			text, from = s.Text, fmt.Sprint(s.Records)
		}
		text = strings.TrimPrefix(text, "seen on the Job's spec: ")
		text = strings.TrimSuffix(text, "; a deletion has no field manager, so who deleted may be another")
		if text != row.want || from != row.from {
			t.Errorf("%s: %q by %s, want %q by %s", row.name, text, from, row.want, row.from)
		}
	}
}
