package integration

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/internal/oldlog"
)

// TestOldRecordsGoWhileJobsRun: the controller starts on an old log that is nearly as large as allowed. Its files are
// sealed and deleted while Jobs run: first by size, then those older than an hour. The log never exceeds its size. No
// Job ends wrong, or later than the same Job of a second controller that keeps its whole log. Readers say what is no
// longer kept.
func TestOldRecordsGoWhileJobsRun(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	const most, late = 16 << 20, 20 * time.Second
	w := newWorld(t)
	c := w.newController("", "--log-max-size=16Mi", "--log-max-age=1h")
	head, err := oldlog.Write(c.Log(), most)
	if err != nil {
		t.Fatal(err)
	}
	old := uint64(head)
	w.start(c)
	control := newWorld(t)
	control.run("")

	jobs, pods := 3, int32(20)
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
	w.start(c) // on the remaining log
	w.create(newJob("behind"))
	w.ends("behind", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
}

// bytesOf returns the size of the files in a directory.
func bytesOf(t *testing.T, dir string) int64 {
	t.Helper()
	bytes, err := oldlog.Bytes(dir)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
