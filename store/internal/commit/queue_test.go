package commit

import (
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// log is a backend with commits that take as long as a test says.
type log struct {
	mu     sync.Mutex
	queue  *Queue[int]
	ended  chan struct{}
	groups [][]int
	rode   []map[string]events.Sequence
	commit func() error
}

// newLog makes a log that calls commit for each commit. Batches go together while their tens are equal.
func newLog(commit func() error) *log {
	l := &log{queue: New(func(a, b *int) bool { return *a/10 == *b/10 }), ended: make(chan struct{}), commit: commit}
	go func() { // ends with the queue
		defer close(l.ended)
		l.queue.Run(&l.mu, Backend[int]{Commit: l.write, Committed: func([]*Batch[int], error) {}})
	}()
	return l
}

func (l *log) write(group []*Batch[int], offsets map[string]events.Sequence) error {
	var works []int
	for _, b := range group {
		works = append(works, b.Work)
	}
	l.mu.Lock()
	l.groups, l.rode = append(l.groups, works), append(l.rode, offsets)
	l.mu.Unlock()
	return l.commit()
}

func (l *log) push(work int, bytes int64, soon bool) *Batch[int] {
	b := NewBatch[int]()
	b.Work = work
	b.Size(1, bytes)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.Ended(); err != nil {
		b.End(err)
		return b
	}
	l.queue.Push(b, soon)
	return b
}

func (l *log) waiting() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.Waiting()
}

func (l *log) close() {
	l.mu.Lock()
	l.queue.Close()
	l.mu.Unlock()
	<-l.ended
}

func isDone(b *Batch[int]) bool {
	select {
	case <-b.Done():
		return true
	default:
		return false
	}
}

func TestWhenACommitBegins(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes int64
		soon  bool
		after time.Duration
	}{
		{"somebody waits: at once", 170, true, 0},
		{"nobody waits: after 100 ms", 170, false, idleDelay},
		{"64 KiB wait: at once", idleBytes, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLog(func() error { return nil })
			defer l.close()
			began := time.Now()
			b := l.push(1, tt.bytes, tt.soon)
			<-b.Done()
			if took := time.Since(began); took != tt.after || b.Err() != nil {
				t.Errorf("%s: it took %v, error %v; want %v", tt.name, took, b.Err(), tt.after)
			}
		})
	}
}

func TestBatchesThatCameDuringACommitRideTogetherUpToTheNextFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(func() error { time.Sleep(time.Second); return nil })
		l.push(0, 100, true)
		synctest.Wait() // its commit has begun
		var all []*Batch[int]
		for _, work := range []int{1, 2, 3, 11, 12} {
			all = append(all, l.push(work, 100, false))
		}
		if got := l.waiting(); got != 600 {
			t.Errorf("%d bytes wait, want 600", got)
		}
		<-all[2].Done()
		if isDone(all[3]) {
			t.Error("a batch of the next file is done before its commit")
		}
		l.close()
		want := [][]int{{0}, {1, 2, 3}, {11, 12}}
		for i, group := range l.groups {
			if len(l.groups) != len(want) || len(group) != len(want[i]) || group[0] != want[i][0] {
				t.Fatalf("groups %v, want %v", l.groups, want)
			}
		}
		if got := l.waiting(); got != 0 {
			t.Errorf("%d bytes wait after all is done", got)
		}
	})
}

func TestAppendersThatTakeTurnsAreGatheredForAQuarterOfACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(func() error { time.Sleep(400 * time.Millisecond); return nil })
		l.push(0, 100, true)
		synctest.Wait()
		l.push(1, 100, true)
		third := l.push(2, 100, true)
		<-third.Done() // a commit of two
		began := time.Now()
		lone := l.push(3, 100, true)
		<-lone.Done()
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("a lone batch after a commit of two took %v, want 100 ms of gathering and 400 ms", took)
		}
		l.close()
	})
}

func TestAfterAFailedCommitEverythingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken disk")
		l := newLog(func() error { time.Sleep(time.Second); return broken })
		first := l.push(0, 100, true)
		synctest.Wait()
		waits := l.push(1, 100, true)
		l.mu.Lock()
		l.queue.SetOffset("nats", 7)
		l.mu.Unlock()
		<-l.ended // nothing more is committed, not even the offset
		for name, b := range map[string]*Batch[int]{"taken": first, "waiting": waits, "later": l.push(2, 100, true)} {
			if !isDone(b) || !errors.Is(b.Err(), store.ErrFailed) || !errors.Is(b.Err(), broken) {
				t.Errorf("the batch that is %s: done %v, error %v", name, isDone(b), b.Err())
			}
		}
		if len(l.groups) != 1 {
			t.Errorf("%d commits, want the one that failed", len(l.groups))
		}
	})
}

func TestAFailureDuringGatheringCommitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(func() error { time.Sleep(400 * time.Millisecond); return nil })
		l.push(0, 100, true)
		synctest.Wait()
		l.push(1, 100, true)
		<-l.push(2, 100, true).Done()
		lost := l.push(3, 100, true)
		synctest.Wait() // it is being gathered
		l.mu.Lock()
		l.queue.SetOffset("nats", 7)
		l.queue.Fail(errors.New("a batch that breaks the contract"))
		l.mu.Unlock()
		<-l.ended
		if len(l.groups) != 2 || !errors.Is(lost.Err(), store.ErrFailed) {
			t.Errorf("%d commits, want 2; the batch that waited: %v", len(l.groups), lost.Err())
		}
	})
}

func TestOffsetsRideAndAreStoredWhenTheLogCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(func() error { time.Sleep(time.Second); return nil })
		set := func(through events.Sequence) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.queue.SetOffset("nats", through)
		}
		set(1)
		time.Sleep(time.Minute)
		if len(l.groups) != 0 {
			t.Error("an offset caused a commit")
		}
		b := l.push(0, 100, true)
		synctest.Wait()
		set(2) // the commit with 1 is in flight
		<-b.Done()
		l.close()
		want := []map[string]events.Sequence{{"nats": 1}, {"nats": 2}}
		if len(l.rode) != 2 || !maps.Equal(l.rode[0], want[0]) || !maps.Equal(l.rode[1], want[1]) {
			t.Errorf("offsets %v, want %v", l.rode, want)
		}
	})
}
