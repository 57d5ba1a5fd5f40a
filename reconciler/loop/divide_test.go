package loop_test

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// divided is the parts of a stream's state so far.
type divided struct{ facts, names []byte }

func (d *divided) next(w *projector.World, s events.Stream, budget int) (last, ok bool) {
	facts, names, last, ok := w.StatePart(s, budget)
	if first := projector.IsFirstPart(facts); first { // another Job with this UID has come, as after a rewind
		*d = divided{}
	}
	d.facts, d.names = append(d.facts, facts...), append(d.names, names...)
	return last, ok
}

func (d *divided) whole(t *testing.T, w *projector.World, s events.Stream, at events.Sequence) bool {
	t.Helper()
	if fields := w.Differs(s, d.facts, d.names, false); len(fields) > 0 {
		t.Errorf("after record %d the parts of the state of %s differ in %v", at, s, fields)
		return false
	}
	return true
}

// inParts returns the log of a busy cluster. Its turns may add so few bytes of states that most states are divided.
func inParts(t *testing.T, restate int) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, memlog.FileBytes(fileBytes))
	cfg := joblog.Busy(6_000)
	cfg.Running, cfg.Restate = 12, restate
	if _, err := joblog.Write(log, cfg); err != nil {
		t.Fatal(err)
	}
	log.Commit(1 << 30)
	return log
}

// TestStatesInParts: a file has the states of large Jobs in several parts, and no turn adds many bytes of them. The
// whole log replays, and so does the log from the second file on. The latter replay counts the decisions that it could
// not make again.
func TestStatesInParts(t *testing.T) {
	log := inParts(t, 2<<10)
	whole, tail := replay.New(), (*replay.Replay)(nil)
	parted, most, turn := map[events.Stream]int{}, 0, 0
	for r, err := range log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindStateStored {
			stored, err := events.AppendRecord(nil, &r)
			if err != nil {
				t.Fatal(err)
			}
			if r.Stream != events.Controller {
				parted[r.Stream]++
				turn += len(stored)
			} else if tail == nil {
				tail = replay.New()
			}
		}
		if r.Last {
			most, turn = max(most, turn), 0
		}
		for _, p := range []*replay.Replay{whole, tail} {
			if p == nil {
				continue
			}
			found, err := p.Record(r)
			if err != nil || len(found) > 0 {
				t.Fatal(found, err)
			}
		}
	}
	if most > 4<<10 { // 2 KiB of parts, and the fields of a Job besides its pods
		t.Errorf("a turn adds %d bytes of states", most)
	}
	records := 0
	for _, n := range parted {
		records = max(records, n)
	}
	s := whole.Summary()
	t.Logf("%d records of states of one stream; %+v; from a file on %+v", records, s, tail.Summary())
	if records < 6 || s.Early != 0 || s.States < 10 || tail.Summary().Early == 0 {
		t.Errorf("%d records of states of one stream; %+v; from a file on %+v", records, s, tail.Summary())
	}
	compareWorlds(t, whole.World().Head, whole.World(), tail.World())
}

// TestAKillBetweenParts: the log is cut behind batches that leave a state half stated. A start there gives the state of
// the whole log. A process that goes on states the divided Job from its first part again.
func TestAKillBetweenParts(t *testing.T) {
	log := inParts(t, 2<<10)
	whole, batches, compared := projector.NewWorld(), 0, 0
	for r, err := range log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		whole.Apply(&r)
		if !r.Last {
			continue
		}
		batches++
		if !slices.ContainsFunc(whole.Streams(), whole.Parted) || batches%3 != 0 {
			continue
		}
		cut := log.Crash(batches)
		got, err := loop.Recover(t.Context(), cut)
		if err != nil {
			t.Fatal(err)
		}
		compareWorlds(t, r.Sequence, whole, got)
		if compared++; compared%8 == 1 {
			goesOn(t, cut, got)
		}
	}
	if compared < 10 {
		t.Errorf("only %d starts were compared", compared)
	}
}

// goesOn lets a new process state the newest file to its end, and replays the log.
func goesOn(t *testing.T, log *memlog.Log, w *projector.World) {
	t.Helper()
	l := loop.New(loop.Config{Log: log, World: w, Settings: w.Settings, Program: "next", RestateBytes: 2 << 10, Salt: func() events.Salt { return events.Salt{1} }})
	now := w.Now
	if err := l.Start(now); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		if newest, alone := w.Restated(); newest == alone {
			break
		}
		if n > 2_000 {
			t.Fatal("the file is never whole")
		}
		now = max(now, l.Wake())
		if _, err := l.Turn(now, nil); err != nil {
			t.Fatal(err)
		}
	}
	log.Commit(1 << 30)
	newest, _ := w.Restated()
	whole, file := replay.New(), replay.New()
	for r, err := range log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*replay.Replay{whole, file} {
			if p == file && r.Sequence < newest {
				continue
			}
			found, err := p.Record(r)
			if err != nil || len(found) > 0 {
				t.Fatal(found, err)
			}
		}
	}
	compareWorlds(t, w.Head, w, whole.World())
	compareWorlds(t, w.Head, w, file.World())
}

// TestASnapshotInParts: a snapshot of a large Job is made in parts while its pods change. The Job's state in it is that
// of the world.
func TestASnapshotInParts(t *testing.T) {
	sample, err := joblog.Write(memlog.New(events.Identity{LogID: "l", Epoch: 1}), joblog.Config{Seed: 1, Records: 2_000, Running: 20, Finished: 5})
	if err != nil {
		t.Fatal(err)
	}
	w := sample.World()
	grow(w, w.Jobs()[0], 2_000)
	log := &sink{head: store.Head{Sequence: w.Head}, identity: w.Identity, first: 1}
	l := loop.New(loop.Config{Log: log, World: w, Settings: w.Settings, SnapshotEvery: 1, Salt: func() events.Salt { return events.Salt{1} }})
	job := w.Jobs()[0]
	var snapshot store.Snapshot
	turns := 0
	for ok := false; !ok; snapshot, ok = l.TakeSnapshot() {
		turns++
		seen := *job.Pods()[turns*7%2000]
		seen.Version, seen.Restarts = seen.Version+1_000_000, seen.Restarts+1
		in := loop.Input{Observation: &events.Observation{
			Job: job.Ref, Facts: &seen.PodSeen, Evidence: events.Evidence{Namespace: job.Ref.Namespace, Name: seen.Name},
		}}
		taken, err := l.Turn(w.Now.Add(1), []loop.Input{in})
		if err != nil || taken != 1 {
			t.Fatal(taken, err)
		}
		if turns > 100 {
			t.Fatal("there is no snapshot")
		}
	}
	if turns < 4 {
		t.Errorf("the snapshot took %d turns", turns)
	}
	byID := func(s store.StreamSnapshot) bool { return s.Stream == job.Stream }
	at := snapshot.Streams[slices.IndexFunc(snapshot.Streams, byID)]
	if at.AsOf == 0 || len(at.State) < 100_000 {
		t.Fatalf("the state is %d bytes, as of record %d", len(at.State), at.AsOf)
	}
	if fields := w.Differs(job.Stream, at.State, at.Names, true); len(fields) > 0 && at.AsOf == w.Head {
		t.Errorf("it differs in %v", fields)
	}
}
