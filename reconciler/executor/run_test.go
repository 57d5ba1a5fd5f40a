package executor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// slowAPI takes its time for each creation, and refuses more than bears at once. The other methods are not called.
type slowAPI struct {
	API
	takes time.Duration
	bears int
	hangs func(*corev1.Pod) bool // until the caller gives up

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

// made is the owners of the pods made so far, and how many were refused.
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
	results map[events.CommandName]Result
	began   time.Time
	ordinal uint64
}

func run(t *testing.T, api API, change ...func(*Config)) *running {
	t.Helper()
	config := Config{API: api, Objects: NewObjects(hashOf), Identity: identity, Mode: events.ModeAll}
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
		results: map[events.CommandName]Result{}, began: time.Now(),
	}
	go func() { // ends when the test stops it
		r.ended <- e.Run(ctx, func(result Result) {
			if _, twice := r.results[result.Ended.Command]; twice {
				t.Errorf("%v ended twice", result.Ended.Command)
			}
			r.results[result.Ended.Command] = result
		})
	}()
	return r
}

// create submits n creates for that Job.
func (r *running) create(name string, n int) (names []events.CommandName) {
	r.Helper()
	job := r.jobs[name]
	if job == nil {
		job = testJob(name)
		r.jobs[name] = job
		r.config.Objects.KeepJob(job)
	}
	hash, err := hashOf(job)
	if err != nil {
		r.Fatal(err)
	}
	for range n {
		r.ordinal++
		task := Task{
			Name: events.CommandName{Decided: events.Sequence(r.ordinal)}, Stream: events.JobStream(job.UID),
			Job:       events.JobRef{Namespace: job.Namespace, Name: job.Name, UID: job.UID},
			ManagedBy: events.ManagedBy, Command: &events.CreatePod{Ordinal: r.ordinal, Index: events.NoIndex, Template: hash},
		}
		r.Submit(task)
		names = append(names, task.Name)
	}
	return names
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
		if limit := 250 * time.Millisecond; took > limit { // 1000 calls of 10 ms, 64 at once: 160 ms
			t.Errorf("it took %v, want at most %v", took, limit)
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
		if result := r.results[name]; result.Ended.Ending != events.UnknownIf || !result.Ended.Sent {
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
		r.create("b", 1) // refused: one is borne
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
