package compare

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// TestWhatHoldsOthersUpLikewise: the same message; of an image any message, since images are compared.
func TestWhatHoldsOthersUpLikewise(t *testing.T) {
	for reason, pulls := range map[string]bool{"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true,
		"ErrImageNeverPull": true, "Unschedulable": false} {
		h := hold{reason: reason, says: "# nodes"}
		if h.pulls() != pulls || h.same("7 pods", "j") != pulls || !h.same("7 nodes", "j") {
			t.Errorf("%s: an image is waited for: %t", reason, h.pulls())
		}
	}
}

// waitingCase is a Job that waits as of record 100 and second 7200: its pod for a reason of the kubelet, or the Job for
// a pod that was refused.
func waitingCase(reason, says string, refused ...*jobcase.Refusal) *jobcase.Case {
	c := &jobcase.Case{Misses: &explain.Misses{}, Added: whentest.Seen(3, 7000), Refusals: refused}
	c.Job.Namespace, c.Job.Name, c.Job.UID, c.Job.State = "ns", "demo", "me", history.StateWaiting
	c.Job.Created, c.Job.AsOf.Time, c.Job.AsOf.Sequence = whentest.Recorded(7000), whentest.Recorded(7200), 100
	if reason != "" {
		c.Tries = []*try.Try{{Pod: "p", Index: events.NoIndex, Seen: whentest.Seen(5, 7001), Newest: whentest.Seen(6, 7002),
			Created: whentest.Sec(7001), Waits: []try.Waiting{{Reason: reason, Message: says, From: whentest.Seen(6, 7002)}}}}
	}
	return c
}

// TestWhatHoldsAJobUp is a wait that others may share, or a refusal of a pod that lasts.
func TestWhatHoldsAJobUp(t *testing.T) {
	lasts := &jobcase.Refusal{Kind: events.CommandCreatePod, Class: events.RefusedQuota, Says: "exceeded quota: 7"}
	over := &jobcase.Refusal{Kind: events.CommandCreatePod, Class: events.RefusedForbidden, Says: "no", Over: whentest.Seen(9, 9)}
	write := &jobcase.Refusal{Kind: events.CommandWriteStatus, Class: events.RefusedQuota, Says: "no"}
	for _, row := range []struct {
		name string
		c    *jobcase.Case
		want string
	}{
		{"the scheduler", waitingCase("Unschedulable", "0/5 nodes are available"), "Unschedulable  #/# nodes are available"},
		{"an image", waitingCase("ImagePullBackOff", "Back-off"), "ImagePullBackOff  Back-off"},
		{"its own crash", waitingCase("CrashLoopBackOff", "back-off"), ""},
		{"what is no trouble", waitingCase("ContainerCreating", ""), ""},
		{"nothing", waitingCase("", ""), ""},
		{"a refusal", waitingCase("", "", lasts), " Quota exceeded quota: #"},
		{"one that is over", waitingCase("", "", over), ""},
		{"one of a status", waitingCase("", "", write), ""},
		{"one behind others", waitingCase("", "", over, write, lasts), " Quota exceeded quota: #"},
		{"a wait before a refusal", waitingCase("Unschedulable", "x", lasts), "Unschedulable  x"},
	} {
		h, is := holding(row.c)
		got := ""
		if is {
			got = fmt.Sprintf("%s %s %s", h.reason, map[bool]string{true: fmt.Sprint(h.class)}[h.class != 0], h.says)
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	ended := waitingCase("Unschedulable", "x")
	ended.Gone = whentest.Seen(50, 7100)
	if h, is := holding(ended); is {
		t.Errorf("a Job that is gone is held up by %+v", h)
	}
}

// jobsOf is a log of other Jobs, by UID.
type jobsOf struct {
	history.Source
	streams map[string][]events.Record
	asked   history.JobsQuery
	many    int   // Jobs of the list; 0 for one of each stream
	fails   error // of the list
	damaged string
	unread  error // of each stream; nil if they can be read
}

func (l *jobsOf) Beside(err error) bool { return errors.Is(err, store.ErrCorrupt) }

func (l *jobsOf) Jobs(_ context.Context, q history.JobsQuery) (page history.JobsPage, err error) {
	l.asked = q
	for i := range l.many {
		page.Items = append(page.Items, history.Summary{Namespace: "ns", Name: fmt.Sprint("j", i), UID: "one"})
	}
	if l.many == 0 {
		for _, uid := range []string{"me", "one", "two"} {
			page.Items = append(page.Items, history.Summary{Namespace: "ns", Name: uid, UID: uid})
		}
	}
	return page, l.fails
}

func (l *jobsOf) ReadStream(_ context.Context, s events.Stream, _ events.Sequence, _ store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for _, r := range l.streams[s.ID] {
			if !yield(r, nil) {
				return
			}
		}
		if l.unread != nil {
			yield(events.Record{}, l.unread)
		}
		if l.damaged == s.ID {
			yield(events.Record{}, &store.CorruptError{Path: "x", At: 5})
		}
	}
}

// waits is a record of a pod of another Job: it waits, or runs on a node.
func waits(n events.Sequence, at float64, uid, reason, says string) events.Record {
	r := events.Record{Header: events.Header{Sequence: n, Time: whentest.Sec(at), Kind: events.KindPodChanged},
		Facts: &events.PodSeen{UID: types.UID(uid), Phase: events.PodPending, Waiting: reason}, Evidence: events.Evidence{Node: "node-7"}}
	if reason != "" {
		r.Evidence.Conditions = []events.ConditionText{{Type: "PodScheduled", Status: "False", Reason: reason, Message: says}}
	}
	return r
}

// create is a record of how a command of another Job to create a pod ended.
func create(n events.Sequence, at float64, f *events.CommandEnded, says string) events.Record {
	return events.Record{Header: events.Header{Sequence: n, Time: whentest.Sec(at), Kind: events.KindCommandEnded}, Facts: f,
		Evidence: events.Evidence{Message: says}}
}

// TestHowOthersFaredThatWaitedForTheSame: of the hour before the answer, and of records up to the answer's.
func TestHowOthersFaredThatWaitedForTheSame(t *testing.T) {
	const room, none = "0/5 nodes are available", "1 other Job waited for the same in the hour before, and none went on"
	refused := func(kind events.CommandKind, class events.RefusalClass) *events.CommandEnded {
		return &events.CommandEnded{Type: kind, Ending: events.Refused, Class: class}
	}
	done := &events.CommandEnded{Type: events.CommandCreatePod, Ending: events.Done}
	pod, quota := waitingCase("Unschedulable", room), waitingCase("", "",
		&jobcase.Refusal{Kind: events.CommandCreatePod, Class: events.RefusedQuota, Says: "exceeded quota"})
	went := func(what string) string {
		return "1 other Job waited for the same in the hour before, 1 went on: last ns/one at " + what
	}
	terminal, deleted := waits(12, 7105, "a", "", ""), waits(12, 7105, "a", "", "")
	terminal.Facts.(*events.PodSeen).Phase, deleted.Facts.(*events.PodSeen).Deleted = events.PodFailed, 5
	for _, row := range []struct {
		name string
		of   *jobcase.Case
		one  []events.Record
		want string // the sentence, or how it begins
	}{
		{"nobody waited", pod, nil, ""},
		{"it waits", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", room)}, none},
		{"with another number", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", "0/9 nodes are available")}, none},
		{"for something else", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", "no room")}, ""},
		{"for another reason", pod, []events.Record{waits(10, 7100, "a", "ErrImagePull", room)}, ""},
		{"an hour before", pod, []events.Record{waits(10, 3600, "a", "Unschedulable", room)}, none},
		{"more than an hour before", pod, []events.Record{waits(10, 3599.9, "a", "Unschedulable", room)}, ""},
		{"in the answer's record", pod, []events.Record{waits(100, 7200, "a", "Unschedulable", room)}, none},
		{"later than the answer", pod, []events.Record{waits(101, 7200, "a", "Unschedulable", room)}, ""},
		{"it runs", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", room), waits(12, 7105, "a", "", "")},
			went("22:25:05, after 5s, on node-7")},
		{"twice: the first counts", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", room), waits(11, 7103, "a", "Unschedulable", room),
			waits(12, 7105, "a", "", ""), waits(13, 7110, "a", "", "")}, went("22:25:05, after 5s, on node-7")},
		{"another pod of it runs", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", room), waits(12, 7105, "b", "", "")}, none},
		{"it failed", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", room), terminal}, none},
		{"it was deleted", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", room), deleted}, none},
		{"at once", pod, []events.Record{waits(10, 7100, "a", "Unschedulable", room), waits(12, 7100, "a", "", "")},
			went("22:25:00, after 1ms, on node-7")},
		{"a refusal is no wait", pod, []events.Record{create(10, 7100, refused(events.CommandCreatePod, events.RefusedQuota), room)}, ""},
		{"refused", quota, []events.Record{create(10, 7100, refused(events.CommandCreatePod, events.RefusedQuota), "exceeded quota")}, none},
		{"refused for something else", quota, []events.Record{create(10, 7100, refused(events.CommandCreatePod, events.RefusedQuota), "x")}, ""},
		{"refused otherwise", quota, []events.Record{create(10, 7100, refused(events.CommandCreatePod, events.RefusedForbidden), "exceeded quota")}, ""},
		{"its status is refused", quota, []events.Record{create(10, 7100, refused(events.CommandWriteStatus, events.RefusedQuota), "exceeded quota")}, ""},
		{"refused an hour before", quota, []events.Record{create(10, 3600, refused(events.CommandCreatePod, events.RefusedQuota), "exceeded quota")}, none},
		{"refused before that", quota, []events.Record{create(10, 3599.9, refused(events.CommandCreatePod, events.RefusedQuota), "exceeded quota")}, ""},
		{"refused, then done", quota, []events.Record{create(10, 7100, refused(events.CommandCreatePod, events.RefusedQuota), "exceeded quota"),
			create(11, 7102, done, "")}, went("22:25:02, after 2s")},
		{"refused, then otherwise", quota, []events.Record{create(10, 7100, refused(events.CommandCreatePod, events.RefusedQuota), "exceeded quota"),
			create(11, 7102, refused(events.CommandCreatePod, events.RefusedForbidden), "no")}, none},
		{"done, then refused", quota, []events.Record{create(9, 7099, done, ""),
			create(10, 7100, refused(events.CommandCreatePod, events.RefusedQuota), "exceeded quota")}, none},
		{"done, and never refused", quota, []events.Record{create(11, 7102, done, "")}, ""},
		{"a wait is no refusal", quota, []events.Record{waits(10, 7100, "a", "Unschedulable", "exceeded quota")}, ""},
	} {
		src := &jobsOf{streams: map[string][]events.Record{"one": row.one, "me": {waits(10, 7100, "m", "Unschedulable", room)}}}
		row.of.Src = src
		c := &Jobs{Case: row.of}
		if err := c.findFreed(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range c.FreedText() {
			if got += x.Text; len(x.Records) == 0 {
				t.Errorf("%s: no record is cited", row.name)
			}
		}
		if got != row.want {
			t.Errorf("%s: %q\nwant %q", row.name, got, row.want)
		}
		wantSpace := map[bool]string{true: "ns"}[row.of == quota]
		if q := src.asked; q.Limit != mostPeers+1 || q.Since != whentest.Sec(3600) || q.Continue != "101" || q.Namespace != wantSpace {
			t.Errorf("%s: it looks for %+v", row.name, q)
		}
	}
}

// TestTheLastOfThoseThatWentOnIsNamed, in whichever order they are listed.
func TestTheLastOfThoseThatWentOnIsNamed(t *testing.T) {
	const room = "0/5 nodes are available"
	first := []events.Record{waits(10, 7100, "a", "Unschedulable", room), waits(12, 7105, "a", "", "")}
	last := []events.Record{waits(11, 7101, "b", "Unschedulable", room), waits(13, 7108, "b", "", "")}
	for name, streams := range map[string]map[string][]events.Record{
		"ns/two": {"one": first, "two": last}, "ns/one": {"one": last, "two": first},
	} {
		c := &Jobs{Case: waitingCase("Unschedulable", room)}
		c.Src = &jobsOf{streams: streams}
		if err := c.findFreed(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "2 other Jobs waited for the same in the hour before, 2 went on: last " + name + " at 22:25:08, after 7s, on node-7"
		if got := c.FreedText(); len(got) != 1 || got[0].Text != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// TestBoundsOfWhatOthersAreAsked: so many Jobs, so many records of each; damage leaves out what it hides.
func TestBoundsOfWhatOthersAreAsked(t *testing.T) {
	const room = "0/5 nodes are available"
	wait := waits(10, 7100, "a", "Unschedulable", room)
	for name, row := range map[string]struct {
		src  *jobsOf
		held int
	}{
		"as many as are compared": {&jobsOf{many: mostPeers, streams: map[string][]events.Record{"one": {wait}}}, mostPeers},
		"more":                    {&jobsOf{many: mostPeers + 1, streams: map[string][]events.Record{"one": {wait}}}, mostPeers},
		"the last record": {&jobsOf{many: 1, streams: map[string][]events.Record{
			"one": append(make([]events.Record, mostPeerRecords-1), wait)}}, 1},
		"a record too many": {&jobsOf{many: 1, streams: map[string][]events.Record{
			"one": append(make([]events.Record, mostPeerRecords), wait)}}, 0},
		"damage behind":     {&jobsOf{many: 1, damaged: "one", streams: map[string][]events.Record{"one": {wait}}}, 1},
		"a damaged list":    {&jobsOf{many: 1, fails: &store.CorruptError{Path: "x"}, streams: map[string][]events.Record{"one": {wait}}}, 1},
		"a list that fails": {&jobsOf{many: 1, fails: context.Canceled, streams: map[string][]events.Record{"one": {wait}}}, -1},
	} {
		c := &Jobs{Case: waitingCase("Unschedulable", room)}
		c.Src = row.src
		held := -1
		if err := c.findFreed(t.Context()); err == nil {
			held = c.others.held
		} else if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait for the same") {
			t.Errorf("%s: %v", name, err)
		}
		if held != row.held {
			t.Errorf("%s: %d waited, want %d", name, held, row.held)
		}
		if held > 0 && len(c.others.marks) != min(held, explain.MostCited) {
			t.Errorf("%s: %d records are cited of %d", name, len(c.others.marks), held)
		}
	}
	if (&Jobs{}).FreedText() != nil {
		t.Error("something is said of Jobs that were not looked at")
	}
}
