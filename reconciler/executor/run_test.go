package executor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
)

// slowAPI takes a while for each creation, and refuses requests beyond `bears` at once. The other methods are not
// called.
type slowAPI struct {
	wholeapi.Server
	takes time.Duration
	bears int
	work  chan struct{}          // a slot for each processor of a small server
	hangs func(*corev1.Pod) bool // such a creation hangs until the caller gives up

	mu      sync.Mutex
	now     int // requests that are being served
	most    int
	order   []types.UID // owners of the pods made
	refused int
}

func (a *slowAPI) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if a.hangs != nil && a.hangs(pod) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	a.mu.Lock()
	if a.bears > 0 && a.now >= a.bears {
		a.refused++
		a.mu.Unlock()
		return nil, apierrors.NewTooManyRequests("too many requests, please try again later", 1)
	}
	a.now++
	a.most = max(a.most, a.now)
	a.mu.Unlock()
	if a.work != nil {
		a.work <- struct{}{}
		defer func() { <-a.work }()
	}
	select {
	case <-time.After(a.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now--
	a.order = append(a.order, pod.OwnerReferences[0].UID)
	made := pod.DeepCopy()
	made.UID, made.ResourceVersion = types.UID(pod.Name), "1"
	return made, nil
}

// made returns the owners of the pods made so far, and how many creations were refused.
func (a *slowAPI) made() (order []types.UID, refused int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.order), a.refused
}

// running is an executor at work in a bubble, and what it has reported.
type running struct {
	*testing.T
	*Executor
	jobs    map[string]*batchv1.Job
	ended   chan error
	stop    context.CancelFunc
	results map[events.CommandID]events.TaskResult
	began   time.Time
	ordinal uint64
}

func run(t *testing.T, api wholeapi.Server, change ...func(*Config)) *running {
	t.Helper()
	config := Config{API: wholeapi.Of(api), Objects: NewObjects(hashOf), Mode: events.ModeAll}
	for _, c := range change {
		c(&config)
	}
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{
		T: t, Executor: e, jobs: map[string]*batchv1.Job{}, ended: make(chan error, 1), stop: cancel,
		results: map[events.CommandID]events.TaskResult{}, began: time.Now(),
	}
	go func() { // ends when the test stops it
		r.ended <- e.Run(ctx, func(result events.TaskResult) {
			if _, twice := r.results[result.Ended.Command]; twice {
				t.Errorf("%v ended twice", result.Ended.Command)
			}
			r.results[result.Ended.Command] = result
		})
	}()
	return r
}

// create submits n creates for that Job.
func (r *running) create(name string, n int) (names []events.CommandID) {
	r.Helper()
	job := r.jobs[name]
	if job == nil {
		job = testJob(name)
		r.jobs[name] = job
		r.config.Objects.KeepJob(wire(job))
	}
	hash, err := hashOf(wire(job))
	if err != nil {
		r.Fatal(err)
	}
	for range n {
		r.ordinal++
		task := events.Task{
			Name: events.CommandID{Decided: events.Sequence(r.ordinal)}, Stream: events.JobStream(job.UID),
			Job:       events.JobRef{Namespace: job.Namespace, Name: job.Name, UID: job.UID},
			ManagedBy: events.ManagedBy, Command: &events.CreatePod{Ordinal: r.ordinal, Index: events.NoIndex, Template: hash},
		}
		r.Submit(task)
		names = append(names, task.Name)
	}
	return names
}

// waits reports whether the task has not ended.
func (r *running) waits(name events.CommandID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Executor.waiting[name] != nil || r.Executor.running[name] != nil
}

// idle waits until everything has ended, and returns how long that took.
func (r *running) idle() time.Duration {
	r.Helper()
	for range 100000 {
		synctest.Wait()
		if r.Idle() {
			return time.Since(r.began)
		}
		time.Sleep(time.Millisecond)
	}
	r.Fatal("it never became idle")
	return 0
}

// ends stops Run and checks that it returns in good order.
func (r *running) ends() {
	r.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		r.Errorf("Run ended with %v", err)
	}
}

// count counts results by ending and class.
func (r *running) count() map[string]int {
	counts := map[string]int{}
	for _, result := range r.results {
		name := result.Ended.Ending.String()
		if result.Ended.Ending == events.Refused {
			name = result.Ended.Class.String()
		}
		counts[name]++
	}
	return counts
}

func TestRunUsesWhatTheServerBears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: 10 * time.Millisecond}
		r := run(t, api)
		for i := range 10 {
			r.create(fmt.Sprint("job", i), 100)
		}
		took := r.idle()
		r.ends()
		if api.most != 64 || r.count()["done"] != 1000 {
			t.Errorf("at most %d at once, %v; want 64, and 1000 done", api.most, r.count())
		}
		if limit := 350 * time.Millisecond; took > limit { // 1000 calls of 10 ms, 64 at once: 160 ms; and ten rounds to get there
			t.Errorf("it took %v, want at most %v", took, limit)
		}
	})
}

// TestSmallServerIsKeptBusyAndHasNoQueue: a server of two processors is never idle while a giant Job has work. However
// long that takes, the pod of a new Job does not wait long.
func TestSmallServerIsKeptBusyAndHasNoQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: 20 * time.Millisecond, work: make(chan struct{}, 2)}
		r := run(t, api)
		const giant = 20_000
		r.create("giant", giant)
		longest := time.Duration(0)
		for n := range 150 {
			time.Sleep(time.Second)
			begun, name := time.Now(), r.create(fmt.Sprint("small", n), 1)[0]
			for r.waits(name) {
				time.Sleep(time.Millisecond)
			}
			longest = max(longest, time.Since(begun))
		}
		took := r.idle()
		r.ends()
		if limit := 200 * time.Millisecond; longest > limit { // with 64 calls in flight it would be 640 ms
			t.Errorf("a Job of one pod waited %v for its pod, want at most %v", longest, limit)
		}
		if limit := (giant + 150) * 10 * time.Millisecond * 101 / 100; took > limit {
			t.Errorf("it took %v, want little more than the server's work alone, %v", took, limit)
		}
	})
}

func TestRunFindsWhatAnOverloadedServerBears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: 10 * time.Millisecond, bears: 20}
		r := run(t, api)
		for i := range 10 {
			r.create(fmt.Sprint("job", i), 1000)
		}
		r.idle()
		r.ends()
		counts := r.count()
		if counts["done"]+counts["TooManyRequests"] != 10000 || counts["TooManyRequests"] > 300 {
			t.Errorf("%v: want few of 10000 refused", counts)
		}
	})
}

func TestNewJobDoesNotWaitForABigOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: 100 * time.Millisecond}
		r := run(t, api)
		r.create("big", 2000)
		time.Sleep(time.Second)
		synctest.Wait()
		before, _ := api.made()
		r.create("small", 1)
		time.Sleep(100*time.Millisecond + time.Nanosecond)
		synctest.Wait()
		after, _ := api.made()
		if !slices.Contains(after[len(before):], "uid-small") || len(after) >= 2000 {
			t.Errorf("the small Job's pod was not made at once, behind %d of the big one", len(after)-len(before))
		}
		r.idle()
		r.ends()
	})
}

func TestJobWhoseCallsHangLeavesRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{
			takes: 10 * time.Millisecond,
			hangs: func(pod *corev1.Pod) bool { return pod.OwnerReferences[0].UID == "uid-bad" },
		}
		r := run(t, api)
		r.create("bad", 500)
		time.Sleep(time.Second)
		r.create("good", 50)
		time.Sleep(time.Second)
		synctest.Wait()
		if order, _ := api.made(); len(order) != 50 {
			t.Errorf("%d of 50 pods were made beside a Job whose calls hang", len(order))
		}
		r.ends()
	})
}

func TestRunTimesRequestsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, &slowAPI{takes: time.Hour})
		name := r.create("demo", 1)[0]
		took := r.idle()
		r.ends()
		if result := r.results[name]; result.Ended.Ending != events.OutcomeUnknown || !result.Ended.Sent {
			t.Errorf("ended %+v, want unknown", result.Ended)
		}
		if took != 30*time.Second {
			t.Errorf("after %v, want the default of 30s", took)
		}
	})
}

func TestRunSendsNothingWhileTheServerAsksForPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: 10 * time.Millisecond, bears: 1}
		r := run(t, api)
		r.create("a", 1)
		r.create("b", 1) // refused: the server bears one at once
		synctest.Wait()
		r.create("c", 1)
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if order, refused := api.made(); len(order) != 1 || refused != 1 {
			t.Errorf("%d made and %d refused within the second, want 1 each", len(order), refused)
		}
		r.idle()
		r.ends()
		if order, refused := api.made(); len(order) != 2 || refused != 1 {
			t.Errorf("%d made and %d refused in the end, want 2 and 1", len(order), refused)
		}
	})
}

func TestStopLeavesNothingInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: 3 * time.Second}
		r := run(t, api)
		r.create("demo", 20)
		synctest.Wait()
		begun := time.Now()
		r.Stop(context.Background())
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("the stop took %v, want as long as a call", took)
		}
		if counts := r.count(); counts["done"] != 6 || counts["withdrawn"] != 14 {
			t.Errorf("%v, want what was in flight done and the rest withdrawn", counts)
		}
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestStopIsBounded(t *testing.T) {
	rows := []struct {
		sentence string
		stop     func(*running)
		want     time.Duration
	}{
		{"by the context given to Stop", func(r *running) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			r.Stop(ctx)
		}, 2 * time.Second},
		{"by StopTimeout when Run's context ends", func(r *running) { r.stop() }, 10 * time.Second},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, &slowAPI{takes: time.Hour})
				r.create("demo", 1)
				synctest.Wait()
				begun := time.Now()
				row.stop(r)
				if err := <-r.ended; err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took != row.want {
					t.Errorf("it took %v, want %v", took, row.want)
				}
				if counts := r.count(); counts["unknown"] != 1 {
					t.Errorf("%v, want the call given up as unknown", counts)
				}
				r.stop()
			})
		})
	}
}

func TestTasksThatComeAfterTheStopAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: time.Second}
		r := run(t, api)
		r.create("demo", 1)
		synctest.Wait()
		r.stop()
		synctest.Wait()
		late := r.create("demo", 1)[0]
		r.ends()
		order, _ := api.made()
		if result := r.results[late]; result.Ended.Ending != events.Withdrawn || result.Ended.Sent || len(order) != 1 {
			t.Errorf("the late task ended %+v, and %d pods were made", result.Ended, len(order))
		}
	})
}

// TestNothingIsSentWhileItMayNotBe: tasks wait while the Lease is not held. They go on when it is renewed after all
// (O-023).
func TestNothingIsSentWhileItMayNotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: time.Second}
		var may atomic.Bool
		may.Store(true)
		r := run(t, api, func(c *Config) { c.May = may.Load })
		r.create("first", 1)
		time.Sleep(500 * time.Millisecond)
		may.Store(false)
		r.create("second", 3)
		time.Sleep(time.Minute)
		synctest.Wait()
		if counts := r.count(); counts["done"] != 1 || len(r.results) != 1 {
			t.Fatalf("%v, want what was in flight done and the rest waiting", counts)
		}
		may.Store(true)
		r.idle()
		if counts := r.count(); counts["done"] != 4 {
			t.Errorf("%v, want all done", counts)
		}
		may.Store(false)
		r.create("third", 2)
		time.Sleep(time.Second)
		r.Stop(context.Background())
		if counts := r.count(); counts["withdrawn"] != 2 {
			t.Errorf("%v, want what was never sent given back", counts)
		}
		r.ends()
	})
}

// TestACallEndsWithWhatItMayBeSentWithin: a call was sent while the Lease was held. When the Lease ends, the call is
// not awaited and sends nothing more: it ends unknown, long before the request would time out (O-023).
func TestACallEndsWithWhatItMayBeSentWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{takes: 20 * time.Second}
		lapses := time.Now().Add(5 * time.Second)
		r := run(t, api, func(c *Config) {
			c.May = func() bool { return time.Now().Before(lapses) }
			c.Within = func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithDeadline(ctx, lapses)
			}
		})
		name := r.create("demo", 1)[0]
		time.Sleep(4 * time.Second)
		r.stop() // a stop alone would wait for the call for longer
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(r.began); took != 5*time.Second {
			t.Errorf("the call ended after %s", took)
		}
		if f := r.results[name].Ended; f.Ending != events.OutcomeUnknown {
			t.Errorf("it ended %+v, want unknown", f)
		}
	})
}
