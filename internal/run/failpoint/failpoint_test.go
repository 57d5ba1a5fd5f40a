package failpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestMain plays the process that is to end: it passes the point that the environment names until it is killed.
func TestMain(m *testing.M) {
	if os.Getenv(Env) == "" {
		os.Exit(m.Run())
	}
	points, err := FromEnv(os.Getenv)
	if err != nil {
		panic(err)
	}
	for range 2 {
		points.pass(AppendBefore)
		fmt.Println("passed")
	}
}

func TestTheProcessIsKilledAtThePassageAskedFor(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), Env+"=append.before:2")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended with %v, want SIGKILL", err)
	}
	if string(out) != "passed\n" {
		t.Errorf("it printed %q, want one passage before the end", out)
	}
	if want := "failpoint append.before:2: killing process"; !strings.Contains(string(exit.Stderr), want) {
		t.Errorf("it said %q, want %q", exit.Stderr, want)
	}
}

// TestTheProcessStandsStillAtThePassageAskedFor, and goes on from there.
func TestTheProcessStandsStillAtThePassageAskedFor(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), Env+"=append.before:2:stop")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process is %#x, %v: want it stopped", status, err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || out.String() != "passed\npassed\n" {
		t.Errorf("it ended with %v and printed %q, want two passages", err, out.String())
	}
}

func TestWhatCannotBeUnderstoodIsRefused(t *testing.T) {
	for _, text := range []string{"append.before", "append.before:", "append.before:0", "append.before:-1", "append:1", "call.before:1", ":1"} {
		if _, err := FromEnv(func(string) string { return text }); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	for _, name := range Names() {
		if _, err := FromEnv(func(string) string { return name + ":1" }); err != nil {
			t.Errorf("%q was refused: %v", name, err)
		}
	}
}

// recorder makes Points that note a passage where they would end the process.
func recorder(t *testing.T, text string) (*Points, *[]string) {
	t.Helper()
	var reached []string
	p, err := parse(text, func(r string) { reached = append(reached, r) })
	if err != nil {
		t.Fatal(err)
	}
	return p, &reached
}

func TestExactlyOnePassageIsTheLast(t *testing.T) {
	p, reached := recorder(t, "durable.after:500")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				p.pass(DurableAfter)
				p.pass(DurableBefore)
			}
		})
	}
	all.Wait()
	if !slices.Equal(*reached, []string{"durable.after:500"}) {
		t.Errorf("reached %q", *reached)
	}
}

var identity = events.Identity{LogID: "0123456789abcdef0123456789abcdef", Epoch: 1}

func TestAWrappedLogIsStillALog(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (store.Log, func() store.Log) {
		inner := memlog.New(identity, memlog.FileBytes(16<<10))
		log := (&Points{}).Log(inner)
		t.Cleanup(func() { log.Close() })
		return log, func() store.Log {
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			appended, _ := inner.Batches()
			inner = inner.Crash(appended)
			log = (&Points{}).Log(inner)
			return log
		}
	})
}

func TestPointsOfTheLog(t *testing.T) {
	rows := []struct {
		sentence, point   string
		appended, durable int // batches, when the point is reached
	}{
		{"before the second append the log has one batch", "append.before:2", 1, 0},
		{"after the second append the log has two", "append.after:2", 2, 0},
		{"before a batch with an outcome is appended the log has the batch before it", "outcome.before:1", 1, 0},
		{"after a batch with an outcome was appended it has both", "outcome.after:1", 2, 0},
		{"before anybody hears of a commit it is durable", "durable.before:1", 2, 2},
		{"who has heard of a commit asks for more", "durable.after:1", 2, 2},
		{"a snapshot is about to be saved", "snapshot.before:1", 2, 2},
		{"a snapshot was saved", "snapshot.after:1", 2, 2},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			inner := memlog.New(identity, memlog.Manual())
			reached := 0
			p, err := parse(row.point, func(string) {
				reached++
				if appended, durable := inner.Batches(); appended != row.appended || durable != row.durable {
					t.Errorf("%d appended and %d durable, want %d and %d", appended, durable, row.appended, row.durable)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			passAll(t, p.Log(inner), inner)
			if reached != 1 {
				t.Errorf("%s was reached %d times", row.point, reached)
			}
		})
	}
}

// passAll appends two batches, the second with an outcome, makes them durable, has two callers hear of it, and saves a
// snapshot.
func passAll(t *testing.T, log store.Log, inner *memlog.Log) {
	t.Helper()
	w := storetest.NewWriter(t, log)
	w.Append(true, storetest.Created(identity))
	w.Append(true, storetest.Item{
		Stream: events.JobStream("job-a"), Kind: events.KindCommandEnded, Facts: &events.CommandEnded{Ending: events.Done},
	})
	inner.Commit(2)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 { // two who wait; to the second nothing is new
		at, err := log.Wait(t.Context(), 0)
		if err != nil || at != 2 {
			t.Fatalf("Wait = %d, %v", at, err)
		}
		if _, err := log.Wait(ended, at); !errors.Is(err, context.Canceled) {
			t.Fatalf("Wait = %v", err)
		}
	}
	if err := log.SaveSnapshot(t.Context(), store.Snapshot{Identity: identity, Head: log.Head()}); err != nil {
		t.Fatal(err)
	}
}

func TestAStatusThatDoesNotFinishTheJobPassesNoFinish(t *testing.T) {
	p, reached := recorder(t, "call.after.finish-job:1")
	if _, err := p.API(wholeapi.Of(&fakeAPI{})).UpdateJobStatus(t.Context(), "", "", nil); err != nil || len(*reached) != 0 {
		t.Errorf("reached %q, %v", *reached, err)
	}
}

func TestCallsPassBeforeAndAfterTheirEffect(t *testing.T) {
	with := func(c batchv1.JobConditionType) []byte {
		job := &batchv1.Job{}
		job.Status.Conditions = []batchv1.JobCondition{{Type: c, Status: corev1.ConditionTrue}}
		written, err := job.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	unfinished, finished := with(batchv1.JobSuccessCriteriaMet), with(batchv1.JobComplete)
	calls := map[string]func(executor.API) error{
		CreatePod:    func(a executor.API) error { _, err := a.CreatePod(t.Context(), "", nil); return err },
		DeletePod:    func(a executor.API) error { return a.DeletePod(t.Context(), "", "", "", "") },
		PatchPod:     func(a executor.API) error { _, err := a.PatchPod(t.Context(), "", "", nil); return err },
		UpdateStatus: func(a executor.API) error { _, err := a.UpdateJobStatus(t.Context(), "", "", unfinished); return err },
		FinishJob:    func(a executor.API) error { _, err := a.UpdateJobStatus(t.Context(), "", "", finished); return err },
		GetJob:       func(a executor.API) error { _, err := a.GetJob(t.Context(), "", ""); return err },
		FindPod:      func(a executor.API) error { _, err := a.FindPod(t.Context(), "", ""); return err },
	}
	checkPoints(t, calls, func(refused error) (executor.API, *int) {
		server := &fakeAPI{err: refused}
		return wholeapi.Of(server), &server.calls
	}, (*Points).API)
}

// checkPoints has each call done by a server that takes it, and by one that refuses it. The point before a call is
// passed before the server has it, and the point after it only when the call had an effect. around puts points around a
// server.
func checkPoints[A any](t *testing.T, calls map[string]func(A) error, serve func(refused error) (server A, had *int), around func(*Points, A) A) {
	t.Helper()
	for verb, call := range calls {
		for _, refused := range []error{nil, errors.New("refused")} {
			server, had := serve(refused)
			before, after := -1, -1
			at := func(point string, seen *int) *Points {
				p, err := parse(point+"."+verb+":1", func(string) { *seen = *had })
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			err := call(around(at(CallAfter, &after), around(at(CallBefore, &before), server)))
			wantAfter := 1
			if refused != nil {
				wantAfter = -1 // without effect the point is not passed
			}
			if !errors.Is(err, refused) || before != 0 || after != wantAfter {
				t.Errorf("%s: %v, want %v; the server had %d calls at the point before and %d at the one after", verb, err, refused, before, after)
			}
		}
	}
}

type fakeAPI struct {
	calls int
	err   error
}

func (f *fakeAPI) CreatePod(context.Context, *corev1.Pod) (*corev1.Pod, error) {
	f.calls++
	return &corev1.Pod{}, f.err
}

func (f *fakeAPI) DeleteJobVersion(context.Context, string, string, types.UID, string) error {
	f.calls++
	return f.err
}

func (f *fakeAPI) DeletePod(context.Context, string, string, types.UID, string) error {
	f.calls++
	return f.err
}

func (f *fakeAPI) PatchPod(context.Context, string, string, []byte) (*corev1.Pod, error) {
	f.calls++
	return &corev1.Pod{}, f.err
}

func (f *fakeAPI) UpdateJobStatus(context.Context, *batchv1.Job) (*batchv1.Job, error) {
	f.calls++
	return &batchv1.Job{}, f.err
}

func (f *fakeAPI) GetJob(context.Context, string, string) (*batchv1.Job, error) {
	f.calls++
	return &batchv1.Job{}, f.err
}

func (f *fakeAPI) FindPod(context.Context, string, string) (*corev1.Pod, error) {
	f.calls++
	return &corev1.Pod{}, f.err
}

func TestOnlyABuildWithTheTagHasFailpoints(t *testing.T) {
	for tags, want := range map[string]bool{"": false, "failpoints": true} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags="+tags, "./cmd/jobledger")
		cmd.Dir = "../../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(out), "/internal/run/failpoint\n"); got != want {
			t.Errorf("with tags %q: imports this package: %t, want %t", tags, got, want)
		}
	}
}
