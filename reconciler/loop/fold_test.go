package loop_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/rules"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// prefix is a log up to one of its records, which need not end a batch. It has the snapshots that there were by then.
type prefix struct {
	store.Log
	end       events.Sequence
	snapshots []store.Snapshot // in their order
}

func (p *prefix) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range p.Log.Read(ctx, from) {
			if r.Sequence > p.end || !yield(r, err) {
				return
			}
		}
	}
}

func (p *prefix) ReadStream(
	ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction,
) iter.Seq2[events.Record, error] {
	if dir == store.Backward && (from == 0 || from > p.end) {
		from = p.end
	}
	return p.Log.ReadStream(ctx, s, from, dir)
}

func (p *prefix) LoadSnapshot(context.Context) (newest store.Snapshot, ok bool, err error) {
	for _, s := range p.snapshots {
		if s.Head.Sequence <= p.end {
			newest, ok = s, true
		}
	}
	return newest, ok, nil
}

// drawnLog returns the log of a busy cluster with several files, and its snapshots.
func drawnLog(t *testing.T, seed uint64, records int) (*memlog.Log, []store.Snapshot) {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, memlog.FileBytes(4<<10))
	var snapshots []store.Snapshot
	cfg := joblog.Config{Seed: seed, Records: records, Running: 6, Finished: 4, Waiting: 2, Parked: 2, Restate: 2 << 10}
	turn := 0
	cfg.Between = func(_ events.Time, l *loop.Loop) error {
		if turn++; turn%5 == int(seed%5) {
			l.Snapshot()
		}
		if s, ok := l.TakeSnapshot(); ok {
			snapshots = append(snapshots, s)
		}
		return nil
	}
	if _, err := joblog.Write(log, cfg); err != nil {
		t.Fatal(err)
	}
	log.Commit(1 << 30)
	return log, snapshots
}

// TestAFoldThatGoesOnIsARecovery: a Fold begins at a random record of a log and follows the log, record by record.
// After each record it holds the same world as a recovery of the log up to there, and leads to the same decisions.
func TestAFoldThatGoesOnIsARecovery(t *testing.T) {
	const records = 300
	compared, decided, snapshots, files := 0, 0, 0, map[[2]uint64]bool{}
	for seed := range uint64(3) {
		log, taken := drawnLog(t, seed, records)
		snapshots += len(taken)
		at := &prefix{Log: log, snapshots: taken}
		rng := rand.New(rand.NewPCG(seed, 4))
		begin := events.Sequence(rng.IntN(records / 2))
		at.end = begin
		fold, err := loop.NewFold(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for at.end = begin + 1; at.end <= log.Head().Sequence; at.end++ {
			if err := fold.Follow(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			if fold.Through() != at.end {
				t.Fatalf("seed %d: folded through record %d of %d", seed, fold.Through(), at.end)
			}
			want, err := loop.Recover(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			compareWorlds(t, at.end, want, fold.World())
			if !slices.Equal(want.Stating(), fold.World().Stating()) {
				t.Fatalf("seed %d: behind record %d the streams would be stated in another order", seed, at.end)
			}
			decided += compareDecisions(t, at.end, want, fold.World())
			_, whole := want.Restated()
			files[[2]uint64{seed, uint64(whole)}] = true
			compared++
		}
	}
	t.Logf("%d worlds, %d decisions with commands, %d snapshots, %d files that stand alone", compared,
		decided, snapshots, len(files))
	if compared < 2*records || decided < 1_000 || snapshots < 4 || len(files) < 4 {
		t.Error("too little was compared")
	}
}

// compareDecisions compares the decisions in two worlds, now and in an hour. It returns how many had commands.
func compareDecisions(t *testing.T, at events.Sequence, want, got *projector.World) (commands int) {
	t.Helper()
	if want.Listing {
		return 0
	}
	for _, now := range []events.Time{want.Now, want.Now.Add(time.Hour)} {
		for _, s := range want.Subjects() {
			x, y := rules.DecideAt(s, now), rules.DecideAt(got.Subject(s.ID()), now)
			if x.Commands() {
				commands++
			}
			if !reflect.DeepEqual(x, y) {
				t.Fatalf("behind record %d %s is decided on differently:\n%s", at, s.ID(), cmp.Diff(x, y))
			}
		}
	}
	return commands
}

// TestALoopOnAFoldWritesWhatARestartWrites: at random batch ends two processes take over copies of one log, one with
// the world of a standby, one with a recovery. Both append the same bytes: at the start, while the cluster is listed,
// and when waits are over.
func TestALoopOnAFoldWritesWhatARestartWrites(t *testing.T) {
	const records = 600
	taken, wrote := 0, 0
	for seed := range uint64(6) {
		log, snapshots := drawnLog(t, seed, records)
		ends := batchEnds(t, log)
		rng := rand.New(rand.NewPCG(seed, 5))
		at := &prefix{Log: log, snapshots: snapshots}
		for batches := 1 + rng.IntN(3); batches <= len(ends); batches += 1 + rng.IntN(3) {
			at.end = 1 + events.Sequence(rng.IntN(int(ends[batches-1])))
			fold, err := loop.NewFold(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			warm, cold := log.Crash(batches), log.Crash(batches)
			if err := fold.Follow(t.Context(), warm); err != nil {
				t.Fatal(err)
			}
			world, err := loop.Recover(t.Context(), cold)
			if err != nil {
				t.Fatal(err)
			}
			began := warm.Head().Sequence
			x, y := takeOver(t, cold, world), takeOver(t, warm, fold.World())
			if !bytes.Equal(x, y) {
				t.Fatalf("seed %d: behind record %d the standby and the restart write differently", seed, began)
			}
			taken, wrote = taken+1, wrote+int(warm.Head().Sequence-began)
		}
	}
	t.Logf("%d takeovers, %d records", taken, wrote)
	if taken < 40 || wrote < 10*taken {
		t.Error("too little was compared")
	}
}

// batchEnds returns the last record of each batch.
func batchEnds(t *testing.T, log store.Reader) (ends []events.Sequence) {
	t.Helper()
	for r, err := range log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Last {
			ends = append(ends, r.Sequence)
		}
	}
	return ends
}

// takeOver lets a Loop lead for two hours on a log. In the cluster the Jobs are as the log says, and their pods are
// gone. It returns the records that were appended, as stored.
func takeOver(t *testing.T, log *memlog.Log, world *projector.World) (stored []byte) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now, from := world.Now.Add(time.Second), log.Head().Sequence
	salt := byte(0)
	l := loop.New(loop.Config{
		Log: log, World: world, Settings: events.DefaultSettings(), Program: "test", ZoneData: "2026a", RestateBytes: 2 << 10,
		Salt: func() events.Salt { salt++; return events.Salt{salt} },
	})
	must(l.Start(now))
	version := uint64(1) << 40
	synced := func(r events.Resource, version uint64) loop.Input {
		facts := &events.Synced{Resources: []events.Resource{r}, Versions: []uint64{version}}
		return loop.Input{Observation: &events.Observation{Facts: facts}}
	}
	inputs := []loop.Input{synced(events.Pods, version)}
	for _, j := range world.Holders() {
		if j.Spec == nil || j.Gone {
			continue
		}
		version++
		seen := &events.JobSeen{
			Version: version, Managed: j.Managed, Spec: j.Spec.Hash, Created: j.Created, Status: j.Base.Record(),
		}
		inputs = append(inputs, loop.Input{Observation: &events.Observation{Job: j.Ref, Facts: seen, Spec: j.Spec}})
	}
	inputs = append(inputs, synced(events.Jobs, version+1))
	until := now.Add(2 * time.Hour)
	for now < until {
		n, err := l.Turn(now, inputs)
		must(err)
		inputs = inputs[n:]
		log.Commit(1 << 30)
		l.Durable(log.Head().Sequence)
		l.Asks()
		if wake := l.Wake(); len(inputs) == 0 && wake == 0 {
			break
		} else if len(inputs) == 0 {
			now = max(now+1, wake)
		}
	}
	for r, err := range log.Read(t.Context(), from+1) {
		must(err)
		b, err := events.AppendRecord(nil, &r)
		must(err)
		stored = append(stored, b...)
	}
	return stored
}

// TestAFoldStaysAtARecordThatItCannotFold: the record is critical and of an unknown kind. The fold keeps the records
// before it, and takes no later one.
func TestAFoldStaysAtARecordThatItCannotFold(t *testing.T) {
	log, _ := drawnLog(t, 1, 100)
	fold, err := loop.NewFold(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	through := fold.Through()
	newer := events.Record{
		Header: events.Header{
			Sequence: through + 1, Time: 1, Stream: events.Controller, Kind: 4711, Critical: true, Last: true,
		},
		Facts: &events.Unknown{Bytes: []byte{8, 1}},
	}
	for range 2 {
		if err := fold.Apply(&newer); !errors.Is(err, events.ErrNewer) {
			t.Errorf("got %v, want ErrNewer", err)
		}
	}
	known := newer
	known.Critical = false
	if err := fold.Apply(&known); !errors.Is(err, events.ErrNewer) || fold.Through() != through {
		t.Errorf("a later record: %v, folded through %d; want ErrNewer and %d", err, fold.Through(), through)
	}
}
