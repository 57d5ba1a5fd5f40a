package stream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/test/internal/built"
)

// world has all the processes of the test.
type world struct {
	t           *testing.T
	dir         string
	source      string
	rng         *rand.Rand
	program     string // jobledger
	server      *process
	publisher   *process
	subscribers []*subscription
	turn        way // the way of the next subscriber to kill
}

const jobs = 5 // subscribers that each follow one Job

func newWorld(t *testing.T, records, subscribers, pace int) *world {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := &world{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 0))}
	w.source = filepath.Join(w.dir, "source")
	streams := w.writeSource(records)
	var err error
	if w.program, err = built.Program(t.Context(), w.dir); err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(natstest.FreePort(t))
	w.server = w.role("server", "server", portVariable+"="+port, dirVariable+"="+filepath.Join(w.dir, "nats"))
	w.publisher = w.role("publisher", "publisher", portVariable+"="+port, dirVariable+"="+filepath.Join(w.dir, "log"),
		fromVariable+"="+w.source, fmt.Sprintf("%s=%d", paceVariable, pace))
	for i := range subscribers {
		filter := nats.Filter{Cluster: cluster}
		switch { // most want everything
		case i < jobs:
			job := streams[i*len(streams)/jobs]
			filter.Namespace, filter.Kind, filter.Name = job.Namespace, nats.KindJob, job.Name
		case i == jobs:
			filter.Kind = nats.KindController
		case i == jobs+3:
			filter.Event = events.KindDecided.String()
		}
		w.subscribers = append(w.subscribers, w.subscribe(way(i)%ways, fmt.Sprintf("subscriber-%d", i), port, filter))
	}
	return w
}

// role returns a process of this test binary in one of its roles.
func (w *world) role(role, name string, env ...string) *process {
	p := &process{t: w.t, name: name, args: os.Args[:1], env: append(env, roleVariable+"="+role), said: filepath.Join(w.dir, name+".txt")}
	w.t.Cleanup(p.kill)
	return p
}

// writeSource writes the records, and returns the Jobs in them.
func (w *world) writeSource(records int) (jobs []events.JobRef) {
	w.t.Helper()
	log, err := boltlog.Open(w.source, store.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := joblog.Write(log, joblog.Busy(records)); err != nil {
		w.t.Fatal(err)
	}
	if _, err := log.Wait(w.t.Context(), events.Sequence(records-1)); err != nil {
		w.t.Fatal(err)
	}
	for r, err := range log.Read(w.t.Context(), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if r.Kind == events.KindJobAdded {
			jobs = append(jobs, events.JobRef{Namespace: r.Evidence.Namespace, Name: r.Evidence.Name})
		}
	}
	if err := log.Close(); err != nil {
		w.t.Fatal(err)
	}
	return jobs
}

// run kills processes at random until all records are published, and then waits until every subscriber has its records.
func (w *world) run(ctx context.Context) {
	w.t.Helper()
	w.server.start()
	w.publisher.start()
	for _, s := range w.subscribers {
		s.start()
	}
	for done := false; !done; {
		w.pause(ctx, 50, 400)
		victim := w.victim()
		victim.kill()
		if w.rng.IntN(3) == 0 {
			w.pause(ctx, 0, 500) // it stays away for a while
		}
		victim.start()
		var err error
		if done, err = w.publisher.over(); err != nil {
			w.t.Fatalf("the publisher ended: %v\n%s", err, w.publisher.tail())
		}
		for _, s := range w.subscribers {
			s.goesOn()
		}
	}
}

// victim returns the process to kill next: every other time a subscriber, of each way in turn.
func (w *world) victim() *process {
	switch w.rng.IntN(4) {
	case 0:
		return w.server
	case 1:
		return w.publisher
	}
	w.turn = (w.turn + 1) % ways
	var all []*process
	for _, s := range w.subscribers {
		if s.way == w.turn {
			all = append(all, s.process)
		}
	}
	return all[w.rng.IntN(len(all))]
}

// pause waits for some milliseconds.
func (w *world) pause(ctx context.Context, least, most int) {
	timer := time.NewTimer(time.Duration(least+w.rng.IntN(most-least)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		w.t.Fatalf("it takes too long: %v\n%s%s", context.Cause(ctx), w.publisher.tail(), w.server.tail())
	}
}

// want returns the records of the log.
func (w *world) want() (id events.Identity, records []events.Record) {
	w.t.Helper()
	log, err := boltlog.OpenReadOnly(filepath.Join(w.dir, "log"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	for r, err := range log.Read(w.t.Context(), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		records = append(records, r)
	}
	return log.Identity(), records
}

// names returns the Jobs by stream.
func names(records []events.Record) map[events.Stream]events.JobRef {
	all := map[events.Stream]events.JobRef{}
	for i := range records {
		if r := &records[i]; r.Kind == events.KindJobAdded {
			all[r.Stream] = events.JobRef{Namespace: r.Evidence.Namespace, Name: r.Evidence.Name}
		}
	}
	return all
}

// passes reports whether a filter selects a record.
func passes(f nats.Filter, job events.JobRef, r *events.Record) bool {
	s := nats.SubjectOf(f.Cluster, job, &r.Header)
	return (f.Namespace == "" || f.Namespace == s.Namespace) && (f.Kind == "" || f.Kind == s.Kind) &&
		(f.Name == "" || f.Name == s.Name) && (f.Event == "" || f.Event == s.Event)
}

// check compares what a subscriber has with what its filter selects.
func (w *world) check(ctx context.Context, s *subscription, life events.Identity, records []events.Record, jobs map[events.Stream]events.JobRef) (twice int) {
	w.t.Helper()
	var want []*events.Record
	for i := range records {
		if r := &records[i]; passes(s.filter, jobs[r.Stream], r) {
			want = append(want, r)
		}
	}
	if len(want) == 0 {
		w.t.Fatalf("%s asks for nothing that there is", s.filter)
	}
	seen := map[events.Sequence]string{}
	next := 0
	w.await(ctx, s, want[len(want)-1].Sequence)
	for _, g := range s.all {
		if g.id.Log != life {
			w.t.Fatalf("%s: message %s is of another log than %s", s.filter, g.id, life)
		}
		if before, ok := seen[g.id.Sequence]; ok {
			if twice++; before != g.sum {
				w.t.Fatalf("%s: %s came twice, with different contents", s.filter, g.id)
			}
			continue
		}
		seen[g.id.Sequence] = g.sum
		if next >= len(want) || want[next].Sequence != g.id.Sequence {
			w.t.Fatalf("%s: message %d is record %d; records before it are missing, or it was not asked for", s.filter, next+1, g.id.Sequence)
		}
		if r := want[next]; g.stream != r.Stream.String() || g.previous != r.Previous {
			w.t.Fatalf("%s: record %d says %s after %d, want %s after %d", s.filter, r.Sequence, g.stream, g.previous, r.Stream, r.Previous)
		}
		next++
	}
	return twice
}

// chaos is the test in one of its sizes.
func chaos(t *testing.T, records, subscribers, pace, waits int) {
	ctx, cancel := patience.Several(t.Context(), waits)
	defer cancel()
	w := newWorld(t, records, subscribers, pace)
	w.run(ctx)
	life, all := w.want()
	if len(all) < records {
		t.Fatalf("the log has %d records, want %d", len(all), records)
	}
	jobs := names(all)
	var of [ways]struct{ subscribers, kills, restarts, twice int }
	for _, s := range w.subscribers {
		n := &of[s.way]
		n.twice += w.check(ctx, s, life, all, jobs)
		n.subscribers++
		n.kills += s.kills
		n.restarts += s.restarts
	}
	t.Logf("%d records to %d subscribers; kills: publisher %d, server %d", len(all), subscribers, w.publisher.kills, w.server.kills)
	for way, n := range of {
		t.Logf("%d subscribers by %s: %d kills, %d other ends; %d events came twice", n.subscribers, wayNames[way], n.kills, n.restarts, n.twice)
		if n.kills == 0 {
			t.Errorf("no subscriber by %s was killed: this proves too little", wayNames[way])
		}
	}
	if w.publisher.kills < 3 || w.server.kills < 3 || of[byCommand].kills < 3 {
		t.Error("too little was killed for this to prove anything")
	}
	if n := of[byClient].twice + of[byPackage].twice; n > 0 {
		t.Errorf("%d events came twice to subscribers that say after which one they go on", n)
	}
}

// TestKilledAtRandomNothingIsLostAndEachJobKeepsItsOrder is want 9.
func TestKilledAtRandomNothingIsLostAndEachJobKeepsItsOrder(t *testing.T) {
	if effort.IsLong() {
		chaos(t, 100_000, 100, 1000, 6)
		return
	}
	chaos(t, 12_000, 12, 1000, 2)
}
