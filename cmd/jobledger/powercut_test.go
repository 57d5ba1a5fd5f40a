//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/powercut"
	"github.com/jobledger/jobledger/internal/dev/powercut/cutlog"
	"github.com/jobledger/jobledger/internal/dev/sim/httpapi"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// running is several runs of the command on one log, beside one cluster, with the records that disk and API server saw.
type running struct {
	trace   *powercut.Trace
	written map[events.Sequence][][]byte // all records that there were at each sequence
	decided map[string]events.Sequence   // where a command was decided
	key     []byte                       // of the log
}

// runLogName is where the log is below the directory that is recorded.
const runLogName = "state/log"

// tell lets the command live five times: it is killed, goes on, is killed again, goes on and stops at once. New Jobs
// come in each life.
func tell(t *testing.T, r *rand.Rand) *running {
	t.Helper()
	w := world.New(world.Config{Seed: r.Uint64(), Kubelet: kubelet.Config{RunTime: kubelet.Range{Max: 40 * time.Millisecond}}})
	server := httpapi.New(httpapi.Config{World: w})
	defer server.Close()
	root := t.TempDir()
	recorder, err := powercut.NewRecorder(root)
	cutlog.Need(t, err)
	s := &running{written: map[events.Sequence][][]byte{}, decided: map[string]events.Sequence{}}
	for life, calls := range []int{60 + r.IntN(250), 0, 60 + r.IntN(250), 0, 0} {
		server.Do(func(w *world.World) { addJobs(t, w, life) })
		if calls > 0 {
			recorder.KillAfter(calls)
		}
		s.live(t, recorder, server, filepath.Join(root, runLogName))
	}
	s.trace = recorder.Trace()
	if s.key, err = os.ReadFile(filepath.Join(root, runLogName, "KEY")); err != nil {
		t.Fatal(err)
	}
	return s
}

// live is one run: until all Jobs have ended, unless the process is killed before.
func (s *running) live(t *testing.T, recorder *powercut.Recorder, server *httpapi.Server, dir string) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, ended := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with the process, or when nothing is left to do
		defer close(done)
		_ = server.Await(ctx, settled) // the process may have been killed
		_ = write.Close()
	}()
	cmd := exec.Command(smallFilesCommand, dir, server.URL)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // it is killed with what it has there
	cmd.Stdin = read
	err = recorder.Run(cmd)
	ended()
	<-done
	cutlog.Need(t, errors.Join(err, read.Close()))
	log, err := boltlog.OpenReadOnly(dir)
	if errors.Is(err, os.ErrNotExist) {
		return // it was killed before there was one
	}
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range log.Read(t.Context(), 0) {
		var stored []byte
		if err == nil {
			stored, err = events.AppendRecord(nil, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.written[r.Sequence] = append(s.written[r.Sequence], stored)
		for _, key := range commandKeys(&r) {
			if _, known := s.decided[key]; !known {
				s.decided[key] = r.Sequence
			}
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// addJobs makes the Jobs of a life: some that succeed, and one that fails. In the last there are none.
func addJobs(t *testing.T, w *world.World, life int) {
	t.Helper()
	for n := range 4 {
		if life == 4 {
			return
		}
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("job-%d-%d", life, n)},
			Spec: batchv1.JobSpec{
				ManagedBy: new(events.ManagedBy), Parallelism: new(int32(2)), Completions: new(int32(3)), BackoffLimit: new(int32(0)),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{kubelet.AnnotationOutcome: kubelet.OutcomeSucceed}},
					Spec: corev1.PodSpec{
						RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
					},
				},
			},
		}
		if n == 3 {
			job.Spec.Template.Annotations[kubelet.AnnotationOutcome] = kubelet.OutcomeFail
		}
		if _, err := w.Users.Create(job); err != nil {
			t.Fatal(err)
		}
	}
}

// settled reports whether all Jobs have ended and no pod is held.
func settled(w *world.World) bool {
	for _, job := range w.Server.AllJobs() {
		if !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
		}) {
			return false
		}
	}
	return !slices.ContainsFunc(w.Server.AllPods(), func(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, events.TrackingFinalizer) })
}

// TestTheCommandUnderPowerCuts cuts the power of "jobledger run": it opens its log, works, begins files, packs them, is
// killed, goes on, and stops with a snapshot and lists of Jobs. The log that is left has every command that reached the
// API server, and every reading command can read it.
func TestTheCommandUnderPowerCuts(t *testing.T) {
	effort.Whole(t)
	r, states, calls, met := cutlog.Seed(t), 0, 0, map[string]bool{}
	for range cutlog.Number("JOBLEDGER_STORIES", 1, 10) {
		s := tell(t, r)
		calls += len(s.trace.Steps)
		for _, step := range s.trace.Steps {
			name := path.Base(strings.TrimSuffix(step.Name, ".tmp"))
			met[name], met[path.Ext(name)] = true, true
		}
		s.cut(t, r, s.trace, cutlog.Number("JOBLEDGER_CUTS", 80, 600), func(c cutlog.Cut, err error) bool {
			if states++; err != nil {
				c.Keep(t)
				t.Fatalf("%v: %v", c, err)
			}
			return true
		})
		unsynced := s.trace.Without(func(step powercut.Step) bool { return step.Kind == powercut.Sync && path.Ext(step.Name) == ".db" })
		noticed := false
		s.cut(t, r, unsynced, 300, func(_ cutlog.Cut, err error) bool {
			noticed = err != nil
			return !noticed
		})
		if !noticed {
			t.Error("when no commit is synced, nothing is noticed")
		}
	}
	for _, what := range []string{"KEY", "LOCK", "CLOSED", "HEAD", "SERVER", ".idx", ".jobs", ".snap", ".db"} {
		if !met[what] {
			t.Errorf("no power cut met the writing of %s: %v", what, slices.Sorted(maps.Keys(met)))
		}
	}
	t.Logf("%d states of %d calls", states, calls)
}

// cut passes the faults of n states of a trace to fn, until fn returns true.
func (s *running) cut(t *testing.T, r *rand.Rand, tr *powercut.Trace, n int, fn func(cutlog.Cut, error) bool) {
	t.Helper()
	heard, states := cutlog.Heard{Written: s.written}, 0
	for c := range cutlog.Cuts(r, tr, n) {
		err := s.hear(&heard, c.Said)
		if states++; err == nil {
			err = s.judge(t, c, heard, states%10 == 0)
		}
		if !fn(c, err) {
			return
		}
	}
}

// hear notes a request to the API server: by then its command is durable, and so is the key that seals pods.
func (s *running) hear(h *cutlog.Heard, said []byte) error {
	for lines := bufio.NewScanner(bytes.NewReader(said)); lines.Scan(); {
		at, ok := s.decided[lines.Text()]
		if !ok {
			return fmt.Errorf("the API server was sent %q, which nothing in the log asked for", lines.Text())
		}
		h.Durable, h.Key = max(h.Durable, at), s.key
	}
	return nil
}

// judge returns what is wrong with a state. If thorough, it also runs the reading commands.
func (s *running) judge(t *testing.T, c cutlog.Cut, heard cutlog.Heard, thorough bool) error {
	t.Helper()
	root := c.Put(t)
	defer cutlog.Remove(t, root)
	dir := filepath.Join(root, runLogName)
	if exists, err := boltlog.Exists(dir); thorough && err == nil && exists {
		if err := readers(t, c, dir); err != nil {
			return err
		}
	}
	return cutlog.Check(t.Context(), dir, heard, store.Options{RotateBytes: 32 << 10})
}

// readers runs the commands that an operator uses before anything is started again. The files beside the records, lists
// of Jobs and indexes, must not change the answers.
func readers(t *testing.T, c cutlog.Cut, dir string) error {
	t.Helper()
	bare := c
	bare.State.Files = maps.Clone(c.State.Files)
	maps.DeleteFunc(bare.State.Files, func(name string, _ []byte) bool {
		return slices.Contains([]string{".idx", ".jobs", ".snap"}, filepath.Ext(name))
	})
	root := bare.Put(t)
	defer cutlog.Remove(t, root)
	for _, args := range [][]string{{"verify"}, {"replay"}, {"get", "jobs", "-A", "-o", "json"}, {"events", "-o", "json"}} {
		said := command(append(slices.Clone(args), "--log", dir)...)
		if said.panicked != nil || said.code != 0 {
			return fmt.Errorf("%q: code %d: %v%s%s", args, said.code, said.panicked, said.err, said.out)
		}
		if args[0] == "verify" || args[0] == "replay" {
			continue // they say what is there, and what was compared
		}
		without := command(append(slices.Clone(args), "--log", filepath.Join(root, runLogName))...)
		if without.out != said.out || without.code != 0 {
			return fmt.Errorf("%q says something else without indexes, lists and snapshots:\n%s\n%s%s", args, said.out, without.out, without.err)
		}
	}
	return nil
}
