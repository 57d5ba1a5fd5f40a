package loop_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// activePods is how many pods of the large Job run; the others have ended and are counted.
const activePods = 10_000

// BenchmarkRestate measures the turns in which a new file is stated: with encoding and chaining, without the commit.
// The world has 10,000 Jobs that run and 100,000 that are retired. It may have one large Job, with 10,000 active pods
// and perhaps 90,000 that have ended. In each turn 20 of its active pods change, so a turn that is long delays
// decisions.
func BenchmarkRestate(b *testing.B) {
	for _, pods := range []int{0, 10_000, 100_000} {
		b.Run(fmt.Sprintf("jobs=10000/retired=100000/pods=%d", pods), func(b *testing.B) { restate(b, multitude(b, 10_000, 100_000, pods)) })
	}
}

// restate states all streams again. It reports how long the loop's thread computes in a turn, and how many bytes the
// turn adds.
func restate(b *testing.B, streams []projector.StreamAt) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	var sizes []int
	for b.Loop() {
		w, _, err := projector.Restore(streams)
		if err != nil {
			b.Fatal(err)
		}
		w.Recovered()
		log := &sink{head: store.Head{Sequence: w.Head}, identity: w.Identity, first: w.Head + 1}
		begin := time.Now()
		l := loop.New(loop.Config{
			Log: log, World: w, Settings: events.DefaultSettings(), Program: "bench", Salt: func() events.Salt { return events.Salt{1} },
			Clock: func() time.Duration { return time.Since(begin) },
		})
		now := w.Now
		if err := l.Start(now); err != nil {
			b.Fatal(err)
		}
		var pods []*projector.Pod
		if large := w.Job(events.JobStream("large")); large != nil {
			pods = large.Pods()
		}
		runtime.GC() // of the restoring
		for turn := 0; ; turn++ {
			if newest, whole := w.Restated(); newest == whole {
				break
			}
			now = now.Add(20 * time.Millisecond)
			log.bytes = 0
			inputs := changes(pods, turn)
			began := threadTime()
			if _, err := l.Turn(now, inputs); err != nil {
				b.Fatal(err)
			}
			took, sizes = append(took, threadTime()-began), append(sizes, log.bytes)
		}
	}
	slices.Sort(took)
	slices.Sort(sizes)
	for name, at := range map[string]int{"p50": len(took) / 2, "p99": len(took) * 99 / 100, "max": len(took) - 1} {
		b.ReportMetric(float64(took[at].Microseconds())/1000, "ms-"+name)
		b.ReportMetric(float64(sizes[at]), "B-"+name)
	}
	all := 0
	for _, size := range sizes {
		all += size
	}
	b.ReportMetric(float64(all)/float64(b.N), "B-all")
	b.ReportMetric(float64(len(took))/float64(b.N), "turns")
}

// changes returns the watch's events of 20 active pods.
func changes(pods []*projector.Pod, turn int) (inputs []loop.Input) {
	for i := range min(20, len(pods)) {
		p := pods[(turn*20+i)%activePods]
		seen := p.PodSeen
		seen.Owner, seen.Version, seen.Restarts = "large", seen.Version+uint64(turn+1)*1_000_000, seen.Restarts+1
		inputs = append(inputs, loop.Input{Observation: &events.Observation{
			Job: events.JobRef{UID: "large"}, Facts: &seen, Evidence: events.Evidence{Namespace: "batch", Name: p.Name, Node: p.Node},
		}})
	}
	return inputs
}

// multitude returns the states of running Jobs, of retired Jobs, and of a large Job with that many pods. With 0 pods
// there is no large Job.
func multitude(b *testing.B, jobs, retired, pods int) (at []projector.StreamAt) {
	sample, err := joblog.Write(memlog.New(events.Identity{LogID: "l", Epoch: 1}), joblog.Config{Seed: 1, Records: 5_000, Running: 100, Finished: 10})
	if err != nil {
		b.Fatal(err)
	}
	w := sample.World()
	running := w.Jobs()
	of := func(j *projector.Job, id string) projector.StreamAt {
		facts, names, ok := w.StreamState(j.Stream)
		if !ok {
			b.Fatal("no state of", j.Stream)
		}
		return projector.StreamAt{Stream: events.JobStream(types.UID(id)), Facts: facts, Names: names}
	}
	for i := range jobs {
		at = append(at, of(running[i%len(running)], fmt.Sprint("running-", i)))
	}
	for i := range retired {
		facts, err1 := proto.Marshal(&pb.JobState{Stub: &pb.StubState{Version: 1, Finished: 1, Head: 1}})
		names, err2 := proto.Marshal(&pb.StateNames{Namespace: "batch", Name: fmt.Sprint("retired-", i)})
		if err1 != nil || err2 != nil {
			b.Fatal(err1, err2)
		}
		at = append(at, projector.StreamAt{Stream: events.JobStream(types.UID(fmt.Sprint("retired-", i))), Facts: facts, Names: names})
	}
	if pods > 0 {
		grow(w, running[0], pods)
		at = append(at, of(running[0], "large"))
	}
	at = append(at, projector.StreamAt{Stream: events.Controller, Facts: w.ControllerFacts()})
	for i := range at {
		at[i].AsOf = w.Head
	}
	return at
}

// grow adds pods to a Job: the first activePods of them run, the others have succeeded.
func grow(w *projector.World, j *projector.Job, pods int) {
	for i := range pods {
		phase, active := events.PodRunning, i < activePods
		if !active {
			phase = events.PodSucceeded
		}
		w.Apply(&events.Record{
			Header: events.Header{Sequence: w.Head + 1, Previous: w.Previous(j.Stream), Time: w.Now, Stream: j.Stream, Kind: events.KindPodAdded, Last: true},
			Facts: &events.PodSeen{
				UID: types.UID(fmt.Sprintf("4fa7d4f5-1d25-4c0a-8d29-%012d", i)), Version: uint64(w.Head), Phase: phase, Created: w.Now.Second(),
				Tracked: active, Owner: j.Ref.UID, Selected: true, Index: events.NoIndex, Ready: active, ReadySince: w.Now.Second(), Ordinal: uint64(1000 + i),
			},
			Evidence: events.Evidence{Namespace: j.Ref.Namespace, Name: fmt.Sprintf("%s-%05d", j.Ref.Name, i), Node: fmt.Sprintf("node-%d", i%100)},
		})
	}
}

// sink is the end of a log that encodes appended records and keeps nothing. Its next record begins a file.
type sink struct {
	store.Log
	identity events.Identity
	head     store.Head
	first    events.Sequence
	stored   []byte
	bytes    int // appended since the caller set it to 0
}

func (l *sink) Identity() events.Identity { return l.identity }
func (l *sink) Head() store.Head          { return l.head }
func (l *sink) NextFile() events.Sequence { return l.first }
func (l *sink) Room(int) error            { return nil }
func (l *sink) Term() uint64              { return 1 }

func (l *sink) ReadStream(context.Context, events.Stream, events.Sequence, store.Direction) iter.Seq2[events.Record, error] {
	return func(func(events.Record, error) bool) {}
}

func (l *sink) Append(batch events.Batch, _ bool) store.Commit {
	for i := range batch.Records {
		var err error
		if l.stored, err = events.AppendRecord(l.stored[:0], &batch.Records[i]); err != nil {
			panic(err)
		}
		if l.head.Hash, err = l.head.Hash.Next(l.stored); err != nil {
			panic(err)
		}
		l.bytes += len(l.stored)
	}
	l.head.Sequence = batch.Last()
	return nil
}

// BenchmarkStart measures a start without a snapshot from the newest file that stands alone, and beside it a start from
// the first record on. The log has 1,000,000 records (100,000 with -short) in ten files. It reports how many records
// each start folds.
func BenchmarkStart(b *testing.B) {
	records := 1_000_000
	if testing.Short() {
		records = 100_000
	}
	log, err := boltlog.Open(b.TempDir(), store.Options{RotateBytes: int64(records) * 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	l, err := joblog.Write(log, joblog.Busy(records))
	if err != nil {
		b.Fatal(err)
	}
	head := l.World().Head
	_, alone := l.World().Restated()
	if alone == 0 {
		b.Fatal("no file stands alone")
	}
	sidebyside.Compare(b, "start",
		sidebyside.Computing("file", 1, func() { recovered(b, withoutSnapshot{log}) }),
		sidebyside.Computing("log", 1, func() { recovered(b, withoutMarks{withoutSnapshot{log}}) }))
	b.ReportMetric(float64(head-alone+1), "file-records")
	b.ReportMetric(float64(head), "log-records")
}

// withoutMarks is a log with an empty stream of the controller, so a start reads it from the first record on.
type withoutMarks struct{ store.Log }

func (l withoutMarks) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return func(func(events.Record, error) bool) {}
}
