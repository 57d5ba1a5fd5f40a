package joblist

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// ofAll are facts of the controller that concern every object.
var ofAll = map[string]events.Facts{
	"a start":     &events.ControllerStarted{Version: "v1", Settings: events.DefaultSettings()},
	"a new clock": &events.ClockStepped{Step: 10 * time.Second},
	"a rewind":    &events.EpochChanged{Epoch: 2, Reason: events.EpochClusterRewound},
}

// TestAListGoesOnBehindWhatConcernsAll: a list is made in two parts, one of which ends with a record of the controller,
// or one or two records before it. It has what one has that is made at once, and the states in it are the same.
func TestAListGoesOnBehindWhatConcernsAll(t *testing.T) {
	n := 0
	for name, facts := range ofAll {
		for _, x := range historytest.Scenes {
			for k := 1; k <= len(x.Steps); k++ {
				log := historytest.Played(t, historytest.With(x.Steps, k, facts))
				if name == "a rewind" && !sightBehind(t, log, events.Sequence(k+2)) {
					continue // what is not seen again has no other records
				}
				for _, part := range []int{max(1, k-1), k, k + 1} { // the log's first record is no step
					n += sameInParts(t, log, events.Sequence(part), fmt.Sprintf("%s behind record %d of %q", name, k, x.Name))
				}
			}
		}
		for k := 3; k <= 14; k++ {
			log := podsAnd(t, k, facts)
			if name == "a rewind" && k > 10 {
				continue // no Job is seen again
			}
			for part := range 14 {
				n += sameInParts(t, log, events.Sequence(part+1), fmt.Sprintf("%s behind record %d of two Jobs", name, k))
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d lists went on", n)
	}
}

// sightBehind reports whether the first record behind at, if there is one, says that a CronJob exists or is gone, and no
// state is stored later.
func sightBehind(t *testing.T, log *memlog.Log, at events.Sequence) bool {
	t.Helper()
	for r, err := range log.Read(t.Context(), at+1) {
		if err != nil {
			t.Fatal(err)
		}
		_, seen := r.Facts.(*events.CronJobSeen)
		_, gone := r.Facts.(*events.CronJobGone)
		if _, stored := r.Facts.(*events.StoredState); stored || r.Sequence == at+1 && !seen && !gone {
			return false
		}
	}
	return true
}

// sameInParts compares a list that ends with that record and goes on with one that is made at once. It returns 0 if the
// log has no more records.
func sameInParts(t *testing.T, log *memlog.Log, part events.Sequence, what string) int {
	t.Helper()
	if part >= log.Head().Sequence {
		return 0
	}
	var said [2][]string
	for i := range said {
		c := Config{Log: log, Dir: t.TempDir()}
		for _, end := range []events.Sequence{part, log.Head().Sequence}[i:] {
			file := cutAt(t, log, end)[0]
			file.Sealed = false
			c.Files = func() ([]store.File, error) { return []store.File{file}, nil }
			if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
				t.Fatal(what, err)
			}
			if end == log.Head().Sequence {
				said[i] = partsOf(t, opened(t, &c, file), c.Log.Identity()).said(t)
			}
		}
		if err := os.RemoveAll(c.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(said[1], said[0]); d != "" {
		t.Errorf("%s, in parts through %d (-at once +in parts):\n%.1500s", what, part, d)
	}
	return 1
}

// podsAnd is a log of two Jobs with a pod each. Before record k it has these facts of the controller.
func podsAnd(t *testing.T, k int, facts events.Facts) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last := map[events.Stream]events.Sequence{}
	add := func(s events.Stream, name string, facts events.Facts) {
		n := log.Head().Sequence + 1
		kind := events.TraitsOf(facts).Kinds[0].Kind
		if last[s] != 0 && kind == events.KindJobAdded {
			kind = events.KindJobChanged
		}
		c := log.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{
				Sequence: n, Time: events.At(time.Date(2026, 3, 14, 12, 0, int(n), 0, time.UTC)), Stream: s, Previous: last[s],
				Kind: kind, Critical: kind.Critical(), Last: true,
			},
			Facts: facts, Evidence: events.Evidence{Namespace: "n", Name: name}, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
		}}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		last[s] = n
	}
	job := func(name string, version uint64) {
		add(events.JobStream(types.UID(name)), name, &events.JobSeen{Version: version, Generation: 1, Managed: true, Created: 1})
	}
	pod := func(name string, version uint64, phase events.PodPhase) {
		add(events.JobStream(types.UID(name)), name+"-0", &events.PodSeen{
			UID: types.UID(name + "-0"), Version: version, Phase: phase, Created: 2, Owner: types.UID(name), Selected: true, Tracked: true,
			Index: events.NoIndex,
		})
	}
	steps := []func(){
		func() {
			add(events.Controller, "", &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format})
		},
		func() { add(events.Controller, "", ofAll["a start"]) },
		func() { job("a", 10) }, func() { pod("a", 11, events.PodRunning) },
		func() { job("b", 12) }, func() { pod("b", 13, events.PodPending) },
		func() {
			add(events.JobStream("a"), "a", &events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.CreatePod{Ordinal: 2, Index: events.NoIndex}}}}})
		},
		func() { pod("a", 14, events.PodFailed) }, func() { job("b", 15) }, func() { pod("b", 16, events.PodRunning) },
		func() { add(events.JobStream("b"), "b", &events.JobGone{}) }, func() { pod("a", 17, events.PodRunning) },
		func() { add(events.JobStream("a"), "a", &events.JobGone{}) },
	}
	for _, step := range slices.Insert(steps, k-1, func() { add(events.Controller, "", facts) }) {
		step()
	}
	return log
}
