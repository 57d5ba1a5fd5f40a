package boltlog

import (
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// aging is a log with Jobs that are created ten minutes apart. The first Job never ends, so it is in every file.
type aging struct {
	*testing.T
	log  *Log
	jobs int
}

func (a *aging) born(n int) events.Time {
	return storetest.Start.Add(time.Duration(n) * 10 * time.Minute)
}

func (a *aging) stream(n int) events.Stream { return events.JobStream(a.uid(n)) }

func (a *aging) uid(n int) types.UID { return types.UID(fmt.Sprintf("job-%d", n)) }

func (a *aging) grow(jobs int) {
	w := storetest.NewWriter(a, a.log)
	if w.Next() == 1 {
		w.Create()
	}
	for ; jobs > 0; jobs-- {
		job := storetest.Job(a.uid(a.jobs), "default", fmt.Sprint("name-", a.jobs))
		job.Facts.(*events.JobSeen).Created = a.born(a.jobs)
		items := []storetest.Item{job, storetest.Pod(a.uid(0), a.jobs)}
		for n := range 8 {
			items = append(items, storetest.Pod(a.uid(a.jobs), n))
		}
		w.Durable(items...)
		a.jobs++
	}
	a.log.background.Wait()
}

func (a *aging) close() {
	a.Helper()
	if err := a.log.Close(); err != nil {
		a.Fatal(err)
	}
}

func (a *aging) open() {
	a.Helper()
	log, err := Open(a.log.dir, a.log.options)
	if err != nil {
		a.Fatal(err)
	}
	a.log = log
	a.log.background.Wait()
}

func (a *aging) reopen() {
	a.Helper()
	a.close()
	report, err := Verify(a.Context(), a.log.dir, nil)
	if err != nil || len(report.Notes) > 0 {
		a.Fatalf("verify: %v, %v", report.Notes, err)
	}
	a.open()
}

// loseIndex opens the log again without the index of a file.
func (a *aging) loseIndex(f *logFile) {
	a.Helper()
	if err := os.Remove(f.indexPath()); err != nil {
		a.Fatal(err)
	}
	a.close()
	a.open()
}

// check asks for every Job. It returns how many files would be searched for a Job that is younger than all others.
func (a *aging) check() int {
	a.Helper()
	s, err := a.log.view()
	if err != nil {
		a.Fatal(err)
	}
	for n := range a.jobs {
		want, err := s.newest(a.stream(n), s.durable.Sequence)
		if err != nil {
			a.Fatal(err)
		}
		if got, err := a.log.Newest(a.stream(n), a.born(n)); err != nil || got != want {
			a.Fatalf("the newest record of Job %d is %d, error %v; it is %d in truth", n, got, err, want)
		}
	}
	if got, err := a.log.Newest(events.JobStream("nobody"), a.born(a.jobs)); err != nil || got != 0 {
		a.Fatalf("the newest record of nobody is %d, error %v", got, err)
	}
	return len(s.since(a.born(a.jobs).Add(apart)).files)
}

// TestNewestAsksNoFileThatIsTooOld: the last record of a Job's stream is found in any file. A file is not searched for
// a Job that is younger than all Jobs in it. That holds after a start, after the index of the file was lost, and after
// other files were pruned.
func TestNewestAsksNoFileThatIsTooOld(t *testing.T) {
	log, err := Open(t.TempDir(), store.Options{RotateBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	a := &aging{T: t, log: log}
	defer func() { _ = a.log.Close() }()
	a.grow(120)
	if n := len(a.log.files); n < 4 {
		t.Fatalf("%d files, want more", n)
	}
	only := func(when string) {
		t.Helper()
		if n := a.check(); n != 1 {
			t.Errorf("%s %d files are asked for a new Job, want the tail alone", when, n)
		}
	}
	only("at first")
	a.reopen()
	only("after a start")

	a.loseIndex(a.log.files[2])
	only("after an index was lost")

	cut := a.log.files[2].first
	w := storetest.NewWriter(t, a.log)
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: cut}})
	if _, err := a.log.Prune(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	only("after pruning")
	a.reopen()
	only("after pruning and a start")
	a.grow(40)
	only("when it goes on")

	a.loseIndex(a.log.files[0]) // only indexes made before the pruning know the pruned Jobs
	only("after the first index was lost")
	for _, f := range a.log.files[:len(a.log.files)-1] {
		if err := os.Remove(f.indexPath()); err != nil {
			t.Fatal(err)
		}
	}
	a.close()
	a.open()
	if n := a.check(); n != len(a.log.files) {
		t.Errorf("%d of %d files are asked when nobody knows what the pruned ones have seen, want all", n, len(a.log.files))
	}
}
