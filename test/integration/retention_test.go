package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/sim/joblog"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestOldRecordsGoWhileJobsRun: the log is old, and nearly as large as it may be, when the controller starts on it. Its files are sealed
// and deleted while Jobs run: by size, and then those older than an hour. The log never grows over its size, no Job ends wrong or later than the
// same Job of a controller beside it whose log keeps all, and readers say what is no longer kept.
func TestOldRecordsGoWhileJobsRun(t *testing.T) {
	t.Parallel()
	const most, late = 16 << 20, 20 * time.Second
	w := newWorld(t)
	c := w.newController("", "--log-max-size=16Mi", "--log-max-age=1h")
	old := oldLog(t, c.Log(), most)
	w.start(c)
	control := newWorld(t)
	control.run("")

	jobs, pods := 12, int32(20)
	if long {
		jobs, pods = 60, 60
	}
	var largest, resident int64
	watch := func() {
		bytes := bytesOf(t, c.Log())
		if largest = max(largest, bytes); bytes > most {
			t.Errorf("the log has %d bytes, more than %d", bytes, most)
		}
		rss, err := c.Resident()
		if err != nil {
			t.Error(err)
		}
		resident = max(resident, rss)
	}
	var slowest time.Duration
	for i := range jobs {
		name := fmt.Sprintf("during-%d", i)
		for _, x := range []*world{w, control} {
			x.create(newJob(name, indexed, completions(pods), parallelism(pods), runFor("100ms")))
		}
		began := time.Now()
		var took, beside time.Duration
		w.eventually("both Jobs "+name+" finish", func() (bool, error) {
			watch()
			if took == 0 && condition(w.job(name), batchv1.JobComplete) != nil {
				took = time.Since(began)
			}
			if beside == 0 && condition(control.job(name), batchv1.JobComplete) != nil {
				beside = time.Since(began)
			}
			return took > 0 && beside > 0, nil
		})
		slowest = max(slowest, took)
		if took > late+3*beside {
			t.Errorf("a Job of %d pods that run for 100 ms took %s, and %s where all is kept", pods, took, beside)
		}
		w.ends(name, result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: pods, completed: fmt.Sprintf("0-%d", pods-1)})
	}
	w.logSays("what is older than an hour goes, but for the file that was the newest", func() (bool, error) {
		watch()
		kept, err := c.Records(t.Context(), "--limit", "1")
		return err == nil && kept[0].Sequence > old-old/10, err
	})

	gone, err := c.Records(t.Context(), "--kind", "Pruned")
	if err != nil {
		t.Fatal(err)
	}
	var through uint64
	for _, r := range gone {
		var p struct{ From, First uint64 }
		if err := r.Into(&p); err != nil {
			t.Fatal(err)
		}
		if through != 0 && p.From != through+1 {
			t.Errorf("record %d says that records from %d on went, and before went those through %d", r.Sequence, p.From, through)
		}
		through = p.First - 1
	}
	t.Logf("of %d old records those through %d went, in %d steps; the log had %d bytes at most, the process %d; a Job took %s at most",
		old, through, len(gone), largest, resident, slowest.Round(time.Millisecond))
	said, err := exec.Command(shared.Program, "get", "jobs", "-n", w.namespace, "--log", c.Log()).CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	if want := fmt.Sprintf("note: pruned before %d: older records are no longer kept", through+1); !strings.Contains(string(said), want) {
		t.Errorf("get jobs says %q, want %q", said, want)
	}
	w.stop(c)
	w.start(c) // on what is left
	w.create(newJob("behind"))
	w.ends("behind", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
}

// oldLog writes a log of months ago, nearly as large as it may be, and returns its last record.
func oldLog(t *testing.T, dir string, most int64) uint64 {
	t.Helper()
	log, err := boltlog.Open(dir, store.Options{MaxBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	enough := fmt.Errorf("the log has %d bytes", most*3/4)
	cfg := joblog.Busy(1 << 30)
	cfg.Single = 1000
	var head events.Sequence
	turns := 0
	cfg.Between = func(_ events.Time, l *loop.Loop) error {
		head = l.World().Head
		if turns++; turns%20 == 0 && bytesOf(t, dir) > most*3/4 {
			return enough
		}
		return nil
	}
	if _, err := joblog.Write(log, cfg); err == nil || !strings.Contains(err.Error(), enough.Error()) {
		t.Fatalf("the log ended before it was large: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return uint64(head)
}

// bytesOf is what the files in a directory take.
func bytesOf(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil { // else it went a moment ago
			bytes += info.Size()
		}
	}
	return bytes
}
