package cutlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/powercut/cutlog"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// childEnv names the life that this test binary lives with the log of its argument.
const childEnv = "POWERCUT_CHILD"

func TestMain(m *testing.M) {
	if life, ok := lives[os.Getenv(childEnv)]; ok {
		live(os.Args[1], life)
	}
	os.Exit(m.Run())
}

// options make the log begin new files often.
var options = store.Options{RotateBytes: 32 << 10, LogID: "0123456789abcdef0123456789abcdef"}

// lives are the ways in which processes use a log, from the moment it is open.
var lives = map[string]func(w *writer){
	"begins, grows and is killed": func(w *writer) {
		for { // until it is killed
			w.grow(10)
			w.pack()
		}
	},
	"grows, prunes and stops": func(w *writer) {
		w.grow(25)
		w.Durable(storetest.Text("job-c", 30_000)) // larger than a file should be
		w.prune()
		w.grow(10)
		w.close()
	},
	"packs and goes on": func(w *writer) { w.pack(); w.grow(8); w.pack(); w.close() },
	"is closed at once": func(w *writer) { w.close() },
	"grows and stops":   func(w *writer) { w.grow(12); w.close() },
	"goes on":           func(w *writer) { w.grow(3); w.close() },
}

// story is the sequence of lives of one log.
var story = []string{"begins, grows and is killed", "grows, prunes and stops", "packs and goes on", "is closed at once", "grows and stops"}

// writer is the writer of one life.
type writer struct {
	*storetest.Writer
	log    *boltlog.Log
	teller *cutlog.Teller
}

// live opens the log and calls life; then the process ends.
func live(dir string, life func(*writer)) {
	log, err := boltlog.Open(dir, options)
	die(err)
	teller := cutlog.Tell(log, os.Stdout)
	key, _, err := log.Key()
	die(err)
	teller.Key(key)
	_, _, err = log.LoadSnapshot(context.Background())
	die(err)
	w := &writer{Writer: storetest.NewWriter(dying{}, teller), log: log, teller: teller}
	if w.Next() == 1 {
		w.Create()
	}
	life(w)
	os.Exit(0)
}

// grow appends batches of all sizes, and waits for some of them. It also moves consumers and saves snapshots.
func (w *writer) grow(batches int) {
	for n := range batches {
		die(w.log.Room(16 << 10))
		items := []storetest.Item{storetest.Pod("job-a", n), storetest.Pod("job-b", n)}
		if n%4 == 0 {
			items = append(items, storetest.Text("job-c", 300+211*n))
		}
		if n%3 == 0 {
			die(w.teller.SetOffset("nats", w.log.Head().Sequence))
		}
		if n%5 == 3 {
			w.Append(false, items...)
			continue
		}
		w.Durable(items...)
		if n%8 == 2 {
			head := w.log.Head()
			die(w.teller.SaveSnapshot(context.Background(), store.Snapshot{
				Identity: w.log.Identity(), Head: head,
				Streams: []store.StreamSnapshot{{Stream: events.JobStream("job-a"), AsOf: head.Sequence, State: make([]byte, 5000)}},
			}))
		}
	}
}

// prune deletes all files but the newest two.
func (w *writer) prune() {
	before, err := w.log.Prunable(w.log.NextFile() - 1)
	die(err)
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: before}})
	_, err = w.log.Prune(context.Background(), before)
	die(err)
}

// pack packs all sealed files.
func (w *writer) pack() {
	for {
		first, err := w.log.Pack(context.Background())
		if die(err); first == 0 {
			return
		}
	}
}

func (w *writer) close() { die(w.teller.Close()) }

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// dying is the testing.TB of a child process: a failure ends the process.
type dying struct{ testing.TB }

func (dying) Helper()                           {}
func (dying) Fatalf(format string, args ...any) { die(fmt.Errorf(format, args...)) }

// logName is the path of the log below the recorded directory.
const logName = "state/log"

func logIn(root string) string { return filepath.Join(root, filepath.FromSlash(logName)) }
