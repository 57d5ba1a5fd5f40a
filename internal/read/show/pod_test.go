package show_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

func (x *told) pod(kind events.Kind, f events.PodSeen, e events.Evidence) {
	f.UID, f.Owner, f.Index, f.Ordinal = "p", "uid", events.NoIndex, 1
	e.Namespace, e.Name = "ns", "demo-0"
	x.add(toldJob, kind, &f, e)
}

func (x *told) view() history.Job {
	return history.JobOf(x.fold, x.fold.Account(toldJob), x.seq, x.now)
}

// TestDeletionIsToldByWhenItWasAskedFor: deletionTimestamp lies in the future.
func TestDeletionIsToldByWhenItWasAskedFor(t *testing.T) {
	at := func(x *told, d time.Duration) events.Time { return x.now.Add(d) }
	thirty, zero := int64(30), int64(0)
	for _, row := range []struct {
		sentence string
		deleted  []time.Duration // after now: deletionTimestamp, as seen one after the other
		grace    []*int64
		want     time.Duration
		latest   bool
		detail   string
	}{
		{"with its grace period", []time.Duration{29 * time.Second}, []*int64{&thirty}, -time.Second, false, "asked for at 08:59:59, 30s to stop"},
		{"a record of before the grace period was recorded", []time.Duration{29 * time.Second}, []*int64{nil}, 0, true,
			"asked for at 09:00:00 at the latest"},
		{"such a record, which came late", []time.Duration{-40 * time.Second}, []*int64{nil}, -40 * time.Second, true,
			"asked for at 08:59:20 at the latest"},
		{"without grace", []time.Duration{-time.Second}, []*int64{&zero}, -time.Second, true, "asked for at 08:59:59 at the latest"},
		{"without grace, after it was asked for with some", []time.Duration{20 * time.Second, 0}, []*int64{&thirty, &zero}, -10 * time.Second, false, ""},
	} {
		x := newTold(1, 1)
		x.job(nil)
		x.pod(events.KindPodAdded, events.PodSeen{Version: 5, Phase: events.PodRunning}, events.Evidence{})
		for i, d := range row.deleted {
			f := events.PodSeen{Version: uint64(6 + i), Phase: events.PodRunning, Deleted: at(x, d), DeletionGracePeriodSeconds: row.grace[i]}
			x.pod(events.KindPodChanged, f, events.Evidence{})
			var names words.Names
			r := events.Record{Header: events.Header{Time: x.now, Stream: toldJob, Kind: events.KindPodChanged}, Facts: &f}
			if got := names.Detail(&r); row.detail != "" && !strings.Contains(got, "being deleted, "+row.detail) {
				t.Errorf("%s: the record says %q, want %q", row.sentence, got, row.detail)
			}
		}
		p := x.view().Pods[0]
		if p.Deleted != recordjson.Instant(at(x, row.want)) || p.DeletedAtLatest != row.latest {
			t.Errorf("%s: deleted %s (at the latest: %t), want %s (%t)", row.sentence,
				words.Moment(events.Time(p.Deleted)), p.DeletedAtLatest, words.Moment(at(x, row.want)), row.latest)
		}
	}
}

// TestPodsThatAreGoneStay: with how they ended, and where; also when their Job needs them no more.
func TestPodsThatAreGoneStay(t *testing.T) {
	x := newTold(1, 1)
	x.job(nil)
	x.pod(events.KindPodAdded, events.PodSeen{Version: 5, Phase: events.PodPending}, events.Evidence{Node: "node-7"})
	x.pod(events.KindPodChanged, events.PodSeen{
		Version: 6, Phase: events.PodFailed, Finished: x.now, Restarts: 2, Exits: []events.ContainerExit{{Name: "main", Code: 137}},
	}, events.Evidence{Reason: "Evicted", Containers: []events.ContainerEnd{{Name: "main", ExitCode: 137, Reason: "OOMKilled"}}})
	x.add(toldJob, events.KindPodDeleted, &events.PodGone{UID: "p", Version: 7}, events.Evidence{})

	j := x.view()
	if len(j.Pods) != 1 || !j.Pods[0].Gone || j.Pods[0].GoneAt != uint64(x.seq) || j.Pods[0].Node != "node-7" {
		text, _ := json.Marshal(j.Pods)
		t.Fatalf("the pod is not shown as it was: %s", text)
	}
	page := x.says(t, 0)
	for _, want := range []string{"POD     PHASE            NODE    FINISHED   RESTARTS  EXITS\n", "demo-0  Failed, deleted  node-7  09:00:00Z  2         main 137 (OOMKilled), Evicted\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}

	x.pod(events.KindPodAdded, events.PodSeen{Version: 8, Phase: events.PodFailed}, events.Evidence{Node: "node-7"})
	if pods := x.view().Pods; len(pods) != 1 || pods[0].Gone {
		t.Errorf("a pod that is there again is shown as %+v", pods)
	}
}

// TestAPodThatIsSeenLate: a watch shows an older version of a pod when its Job is over. The Job is what it was.
func TestAPodThatIsSeenLate(t *testing.T) {
	x := newTold(1, 1)
	x.job(nil)
	x.pod(events.KindPodAdded, events.PodSeen{Version: 5, Phase: events.PodRunning}, events.Evidence{})
	x.add(toldJob, events.KindJobDeleted, &events.JobGone{Version: 9}, events.Evidence{})
	x.add(toldJob, events.KindJobRetired, &events.JobRetired{Result: events.ResultComplete}, events.Evidence{})
	was := x.view()
	x.pod(events.KindPodAdded, events.PodSeen{Version: 4, Phase: events.PodPending}, events.Evidence{})
	if now := x.view(); now.Name != "demo" || now.State != was.State || now.Created != was.Created || now.Spec == nil {
		t.Errorf("it is %s %q, want %s", now.State, now.Name, was.State)
	}
}
