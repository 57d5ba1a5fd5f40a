package stuck

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

// runsBeside is a pod that runs in second 90, one of whose containers ended with 0 in second 30; its newest record names
// the one that still runs.
func runsBeside(change func(*try.Try)) *try.Try {
	t := &try.Try{
		Pod: "p", Index: events.NoIndex, Phase: events.PodRunning, Seen: whentest.Seen(2, 2), Started: whentest.Seen(4, 4),
		Shown: whentest.Seen(6, 31), Newest: whentest.Seen(7, 32), StillRun: []string{"proxy"},
		Containers: []events.ContainerEnd{whentest.Exit("main", 0,
			func(k *events.ContainerEnd) { k.Started, k.Finished = whentest.Sec(4), whentest.Sec(30) })},
	}
	if change != nil {
		change(t)
	}
	return t
}

// runningCase is a Job that runs as of second 90.
func runningCase(tries ...*try.Try) *jobcase.Case {
	c := &jobcase.Case{Tries: tries, Misses: &explain.Misses{}, Src: &whentest.Log{}}
	c.Job.Namespace, c.Job.Name, c.Job.State = "ns", "demo", history.StateRunning
	c.Job.Created, c.Job.AsOf.Time = whentest.Recorded(1), whentest.Recorded(90)
	return c
}

// TestAPodThatIsHalfDone: one that runs, with a container that has ended for good and another one that runs on.
func TestAPodThatIsHalfDone(t *testing.T) {
	const half = "main ended with 0 at 20:27:10 and proxy runs on"
	for _, row := range []struct {
		name   string
		change func(*try.Try)
		want   string
		from   string
	}{
		{"it is", nil, half, "[6 7]"},
		{"its newest record is that of the end", func(x *try.Try) { x.Newest = x.Shown }, half, "[6]"},
		{"two run on", func(x *try.Try) { x.StillRun = []string{"proxy", "log"} },
			"main ended with 0 at 20:27:10 and proxy, log run on", "[6 7]"},
		{"it failed", func(x *try.Try) { x.Containers[0].ExitCode = 3 }, "main exit 3 at 20:27:10 and proxy runs on",
			"[6 7]"},
		{"when is not known", func(x *try.Try) { x.Containers[0].Finished = 0 }, "main ended with 0 and proxy runs on",
			"[6 7]"},
		{"it starts again", func(x *try.Try) { x.Containers[0].Again = true }, "", "[]"},
		{"an init container ended", func(x *try.Try) { x.Containers[0].Kind = events.InitContainer }, "", "[]"},
		{"which others run is not known", func(x *try.Try) { x.StillRun = nil }, "", "[]"},
		{"none ended", func(x *try.Try) { x.Containers = nil }, "", "[]"},
		{"the pod ended", func(x *try.Try) { x.Ended = whentest.Seen(8, 40) }, "", "[]"},
		{"the pod is gone", func(x *try.Try) { x.Gone = whentest.Seen(8, 40) }, "", "[]"},
		{"the pod is being deleted", func(x *try.Try) { x.AskedSeen = whentest.Seen(8, 40) }, "", "[]"},
		{"the pod is pending", func(x *try.Try) { x.Phase = events.PodPending }, "", "[]"},
		{"the pod waits", func(x *try.Try) {
			x.Waits = []try.Waiting{{Reason: "CrashLoopBackOff",
				From: whentest.Seen(6, 31)}}
		}, "", "[]"},
		{"the pod had waited", func(x *try.Try) {
			x.Waits = []try.Waiting{{Reason: "ContainerCreating", From: whentest.Seen(2, 2), Until: whentest.Seen(4, 4)}}
		}, half, "[6 7]"},
	} {
		c := runningCase(runsBeside(row.change))
		h, is := HalfDone(c, c.Tries[0])
		records := []events.Sequence{}
		for _, m := range h.From {
			records = append(records, m.Record)
		}
		if is != (row.want != "") || h.Text != row.want || fmt.Sprint(records) != row.from {
			t.Errorf("%s: %t, %q by %v, want %q by %s", row.name, is, h.Text, records, row.want, row.from)
		}
		var says []string
		for _, s := range KeptBy(c, nil) {
			says = append(says, s.Text)
		}
		if told := strings.Contains(strings.Join(says, " | "), "the end of p: "+half); told != (row.want == half) {
			t.Errorf("%s: it is kept by %q", row.name, says)
		}
	}
}

// TestWhatRanOnUntil: a container that had done its work before an instant, and which others ended later.
func TestWhatRanOnUntil(t *testing.T) {
	for _, row := range []struct {
		before float64
		change func(*try.Try)
		want   string
	}{
		{30.1, nil, "while main had ended with 0 at 20:27:10 and other containers of p ran on"}, {30, nil, ""}, {29, nil, ""},
		{90, func(x *try.Try) { x.Containers[0].Finished = 0 }, ""}, {90, func(x *try.Try) { x.Containers[0].ExitCode = 1 },
			""},
		{90, func(x *try.Try) { x.Containers = nil }, ""},
		{90, func(x *try.Try) {
			x.Containers = append(x.Containers, whentest.Exit("proxy", 137,
				func(k *events.ContainerEnd) { k.Finished = whentest.Sec(80) }))
		}, "while main had ended with 0 at 20:27:10 and proxy ran on"},
	} {
		c := runningCase(runsBeside(row.change))
		if got, is := ranOn(c, c.Tries[0], whentest.Sec(row.before)); got != row.want || is != (row.want != "") {
			t.Errorf("before %v: %q, want %q", row.before, got, row.want)
		}
	}
}

// TestWaitsOfAJobThatIsOver: those with the same words are told together, by the longest of them, with the records that
// show it; and which came before, of the first alone.
func TestWaitsOfAJobThatIsOver(t *testing.T) {
	pod := func(name, reason, says string, from, until float64) *try.Try {
		n := events.Sequence(from)
		return &try.Try{Pod: name, Seen: whentest.Seen(n-1, from-1), Started: whentest.Seen(events.Sequence(until), until),
			Gone:  whentest.Seen(95, 95),
			Waits: []try.Waiting{waitingFor(reason, says, whentest.Seen(n, from), whentest.Seen(events.Sequence(until), until))}}
	}
	for _, row := range []struct {
		name  string
		tries []*try.Try
		want  []string
	}{
		{"none", nil, nil},
		{"one", []*try.Try{pod("a", "ImagePullBackOff", "no such image", 10, 30)},
			[]string{"a waited for at least 20s: ImagePullBackOff: no such image", "what ended the wait is unknown"}},
		{"two alike", []*try.Try{pod("a", "ImagePullBackOff", "m", 10, 30), pod("b", "ImagePullBackOff", "m", 11, 40)},
			[]string{"b and 1 other pod waited for at least 29s: ImagePullBackOff: m", "what ended the wait is unknown"}},
		{"three alike", []*try.Try{pod("a", "ImagePullBackOff", "m", 10, 50), pod("b", "ImagePullBackOff", "m", 11, 40),
			pod("c", "ImagePullBackOff", "m", 12, 40)},
			[]string{"a and 2 other pods waited for at least 40s: ImagePullBackOff: m", "what ended the wait is unknown"}},
		{"two of other words", []*try.Try{pod("a", "ImagePullBackOff", "m", 10, 30),
			pod("b", "ImagePullBackOff", "n", 11, 40)},
			[]string{"a waited for at least 20s: ImagePullBackOff: m", "what ended the wait is unknown",
				"b waited for at least 29s: ImagePullBackOff: n"}},
		{"seen late", []*try.Try{func() *try.Try {
			x := pod("a", "ImagePullBackOff", "m", 10, 30)
			x.Seen = whentest.Seen(3, 8)
			return x
		}()}, []string{"a waited for at least 20s: ImagePullBackOff: m",
			"it was seen from 28 May 20:26:50 on; 2s before that the pod did not run either; what ended the wait is unknown"}},
	} {
		c := runningCase(row.tries...)
		c.Job.State, c.Spec = history.StateComplete, &events.JobSpec{}
		c.Settled = &jobcase.Settling{Stored: whentest.Seen(80, 80), Over: whentest.Seen(80, 80)}
		c.Reigns = []jobcase.Reign{{From: whentest.Seen(1, 1), Hands: jobcase.OurHands}}
		var got []string
		for _, s := range Waited(c) {
			if got = append(got, s.Text); len(s.Records) == 0 {
				t.Errorf("%s: %q has no record", row.name, s.Text)
			}
		}
		if strings.Join(got, "\n") != strings.Join(row.want, "\n") {
			t.Errorf("%s:\n\t%s\nwant\n\t%s", row.name, strings.Join(got, "\n\t"), strings.Join(row.want, "\n\t"))
		}
	}
}
