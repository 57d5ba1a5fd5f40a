package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// A row is a list of crashes: the controller starts, ends as the first one says, starts again, ends as the second one
// says, and so on, and then runs to the end. The counts are low enough to be reached however the work is split into
// batches and status writes. A row with a point that is not reached fails.
type row struct {
	sentence string
	crashes  []crash
	held     bool // the pods of the indexed Job run until the last start
	many     bool // the indexed Job has 20 pods, even if other rows have fewer
	atLength bool // runs only with JOBLEDGER_LONG: other rows have the same point
}

func at(points ...string) (all []crash) {
	for _, p := range points {
		all = append(all, crash{point: p})
	}
	return all
}

// last is the last time at which a point is passed that each pod passes once, including the pod of the failing Job.
func last(point string) string { return fmt.Sprintf("%s:%d", point, usual+1) }

// rows are the points between decision and effect: each one early, in the middle and, if the count is known, at the
// end.
var rows = []row{
	{sentence: "before the very first append", crashes: at("append.before:1")},
	{sentence: "before the append of the listing", crashes: at("append.before:2")},
	{sentence: "before the first decision is appended", crashes: at("append.before:4")},
	{sentence: "before an append in the middle", atLength: true, crashes: at("append.before:12")},
	{sentence: "after the very first append", crashes: at("append.after:1")},
	{sentence: "after the first decision is appended", crashes: at("append.after:4")},
	{sentence: "after an append in the middle", atLength: true, crashes: at("append.after:13")},
	{sentence: "the first commit is durable and nobody knows", crashes: at("durable.before:1")},
	{sentence: "the first decision is durable and nobody knows", crashes: at("durable.before:3")},
	{sentence: "a commit in the middle is durable and nobody knows", atLength: true, crashes: at("durable.before:7")},
	{sentence: "the first commit is durable and known", crashes: at("durable.after:1")},
	{sentence: "the first decision is durable and its calls begin", crashes: at("durable.after:3")},
	{sentence: "a commit in the middle is durable and its calls begin", atLength: true, crashes: at("durable.after:7")},
	{sentence: "before the first create is sent", crashes: at("call.before.create-pod:1")},
	{sentence: "before a create in the middle is sent", atLength: true, crashes: at("call.before.create-pod:12")},
	{sentence: "before the last create is sent", crashes: at(last("call.before.create-pod"))},
	{sentence: "after the first pod is created", crashes: at("call.after.create-pod:1")},
	{sentence: "after a pod in the middle is created", crashes: at("call.after.create-pod:12")},
	{sentence: "after the last pod is created", crashes: at(last("call.after.create-pod"))},
	{sentence: "before the first status write", crashes: at("call.before.update-status:1")},
	{sentence: "before the second status write", crashes: at("call.before.update-status:2")},
	{sentence: "after the first status write", crashes: at("call.after.update-status:1")},
	{sentence: "after the second status write", crashes: at("call.after.update-status:2")},
	{sentence: "before the first Job is finished", crashes: at("call.before.finish-job:1")},
	{sentence: "before the second Job is finished", crashes: at("call.before.finish-job:2")},
	{sentence: "after the first Job is finished", crashes: at("call.after.finish-job:1")},
	{sentence: "after the second Job is finished", crashes: at("call.after.finish-job:2")},
	{sentence: "before the first finalizer goes", crashes: at("call.before.patch-pod:1")},
	{sentence: "before a finalizer in the middle goes", atLength: true, crashes: at("call.before.patch-pod:9")},
	{sentence: "before the last finalizer goes", crashes: at(last("call.before.patch-pod"))},
	{sentence: "after the first finalizer has gone", crashes: at("call.after.patch-pod:1")},
	{sentence: "after a finalizer in the middle has gone", crashes: at("call.after.patch-pod:8")},
	{sentence: "after the last finalizer has gone", crashes: at(last("call.after.patch-pod"))},
	{sentence: "the first outcome is known and not recorded", crashes: at("outcome.before:1")},
	{sentence: "an outcome in the middle is known and not recorded", crashes: at("outcome.before:8")},
	{sentence: "the first outcome is appended", crashes: at("outcome.after:1")},
	{sentence: "an outcome in the middle is appended", atLength: true, crashes: at("outcome.after:8")},
	{sentence: "in the middle, and again at the first append of the next start", crashes: at("call.after.create-pod:12", "append.after:1")},
	{sentence: "in the middle, and again before the listing is settled", crashes: at("durable.after:6", "append.before:3")},
	// Each kill finds some eight creates in flight, which take effect. So the first kill comes early enough to leave
	// some for the third.
	{sentence: "after a create, then twice after the first create that follows", many: true, crashes: at("call.after.create-pod:2", "call.after.create-pod:1", "call.after.create-pod:1")},
	{sentence: "after a status write, then after the one that follows", crashes: at("call.after.update-status:1", "call.after.update-status:1")},
	{sentence: "during a stop in good order, before its snapshot", crashes: []crash{{point: "snapshot.before:1", after: 300 * time.Millisecond, stop: true}}},
	{sentence: "during a stop in good order, after its snapshot", crashes: []crash{{point: "snapshot.after:1", after: 400 * time.Millisecond, stop: true}}},
}

// seeds choose the times of rows that are killed three times, at any point.
var seeds = []uint64{1, 2}

// atRandom returns the row of a seed. The Jobs take about two seconds in all.
func atRandom(seed uint64) row {
	random := rand.New(rand.NewPCG(seed, 2))
	r := row{sentence: fmt.Sprintf("at the instants of seed %d", seed)}
	for _, most := range []time.Duration{1800 * time.Millisecond, 1000 * time.Millisecond, 800 * time.Millisecond} {
		after := time.Duration(random.Int64N(int64(most))).Truncate(time.Millisecond)
		r.crashes = append(r.crashes, crash{after: after})
	}
	return r
}

// long enables many more rows, which take hours. Without it, only every fourth row also runs with the log lost. Make test
// plays every sixth of these.
var long = effort.IsLong()

func allRows() []row {
	all := slices.Concat(meddled, rows) // the longest first
	for _, seed := range seeds {
		all = append(all, atRandom(seed))
	}
	if !long {
		return slices.DeleteFunc(all, func(r row) bool { return r.atLength })
	}
	for _, point := range []string{"append.before", "append.after", "outcome.before", "outcome.after", "durable.before", "durable.after"} {
		for count := 1; count <= 14; count++ {
			all = append(all, row{sentence: fmt.Sprintf("%s, passage %d", point, count), crashes: at(fmt.Sprintf("%s:%d", point, count))})
		}
	}
	for _, verb := range []string{"create-pod", "patch-pod"} {
		for count := 1; count <= usual+1; count++ {
			for _, point := range []string{"call.before", "call.after"} {
				name := fmt.Sprintf("%s.%s:%d", point, verb, count)
				all = append(all, row{sentence: "at " + name, crashes: at(name)})
			}
		}
	}
	for seed := range uint64(203) {
		all = append(all, atRandom(1000+seed))
	}
	return all
}

func TestCrashes(t *testing.T) {
	for _, log := range []string{"the log is kept", "the log is lost"} {
		t.Run(log, func(t *testing.T) {
			for i, r := range effort.Each(6, allRows()) {
				if log == "the log is lost" && i%4 != 0 && !long {
					continue
				}
				t.Run(r.sentence, func(t *testing.T) {
					t.Parallel()
					x := newTrial(t)
					create := func() { x.createJobs(r.indexedJob()) }
					for _, c := range r.crashes {
						x.crash(c, create)
						create = func() {}
						if log == "the log is lost" {
							x.loseLog()
						}
					}
					if r.held {
						go x.release() // ends with the row
					}
					x.recover()
					if !r.isMeddled() {
						for _, wrong := range remade(x.history.Now()) {
							t.Error(wrong)
						}
					}
				})
			}
		})
	}
}
