package ha

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/run/failpoint"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// streamName is that of the log's stream.
const streamName = "jobledger-log"

const purged = "purged"

// losses are the ways in which the stream goes back, by sentence. before is an older copy of the servers' stores.
var losses = map[string]func(w *world, before []string){
	"deleted": func(w *world, _ []string) { w.deleteStream() },
	purged: func(w *world, _ []string) {
		s, err := natstest.JetStream(w.T, w.servers.URL()).Stream(w.ctx, streamName)
		if err == nil {
			err = s.Purge(w.ctx)
		}
		if err != nil {
			w.Fatal(err)
		}
	},
	"restored from an older copy of the servers' stores": func(w *world, before []string) { w.restore(before) },
	"gone with all that the servers stored": func(w *world, before []string) {
		for i := range before {
			before[i] = w.TempDir()
		}
		w.restore(before)
	},
}

func (w *world) deleteStream() {
	w.Helper()
	if err := natstest.JetStream(w.T, w.servers.URL()).DeleteStream(w.ctx, streamName); err != nil {
		w.Fatal(err)
	}
}

// copyStores kills the servers, copies what they have stored, and starts them again.
func (w *world) copyStores() (dirs []string) {
	w.Helper()
	for _, s := range w.servers {
		s.Kill()
	}
	for _, s := range w.servers {
		dir := w.TempDir()
		if err := os.CopyFS(dir, os.DirFS(s.Dir)); err != nil {
			w.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	w.startServers()
	return dirs
}

// restore kills the servers, and starts them with what was in these directories.
func (w *world) restore(dirs []string) {
	w.Helper()
	for _, s := range w.servers {
		s.Kill()
	}
	for i, s := range w.servers {
		if err := errors.Join(os.RemoveAll(s.Dir), os.CopyFS(s.Dir, os.DirFS(dirs[i]))); err != nil {
			w.Fatal(err)
		}
	}
	w.startServers()
}

func (w *world) startServers() {
	for _, s := range w.servers {
		s.Start()
	}
}

// refilled gives what the logs say of each time that the stream got records again.
func (w *world) refilled(c *controller.Controller) string {
	w.Helper()
	asks := exec.CommandContext(w.ctx, w.program, "events", "--kind", "StreamRefilled", "--log", c.Log())
	text, err := asks.CombinedOutput()
	if err != nil {
		w.Errorf("events: %v: %s", err, text)
	}
	return string(text)
}

// TestALostStreamIsRefilled: under a leader that runs Jobs. It ends, and it or its standby, which has all, makes the
// stream whole again and goes on.
func TestALostStreamIsRefilled(t *testing.T) {
	atLength(t)
	for sentence, lose := range losses {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t, 2, natstest.NewServers(t, 1), "--replicate-members", "2")
			for _, c := range w.controllers {
				w.start(c)
			}
			w.create(4, 6)
			w.await(4)
			before := w.copyStores()
			w.create(4, 4)
			w.await(14)
			first, others := w.leader()
			lose(w, before)
			lost := time.Now()
			w.create(2, 3)
			w.ends(first)
			w.start(first)
			next, _ := w.leader()
			w.Logf("the next leader (%t: its standby) %s after the loss", next == others[0], time.Since(lost).Round(time.Second))
			w.finish()
			if err := next.Kill(); err != nil { // the stream that was filled is one to take over from
				t.Fatal(err)
			}
			w.create(2, 2)
			w.leader()
			w.finish()
			w.start(next)
			w.judge()
			// A standby that has read all before a purge claims the stream as it is
			if text := w.refilled(next); sentence != purged && !strings.Contains(text, "the stream of the log") {
				t.Errorf("the log says nothing of it: %s", text)
			}
		})
	}
}

// TestALeaderThatIsKilledWhileItRefills: at each step. The standby cannot know that it has all, and waits. The leader
// goes on when it is there again.
func TestALeaderThatIsKilledWhileItRefills(t *testing.T) {
	atLength(t)
	for step, restored := range map[string]bool{
		failpoint.RefillMaking: false, failpoint.RefillMade: false, failpoint.RefillClaimed: true,
		failpoint.RefillGrouped: true, failpoint.RefillTaken: true, failpoint.RefillRecorded: false,
	} {
		t.Run(step, func(t *testing.T) {
			w := newWorldOf(t, 2, natstest.NewServers(t, 1), setting{
				tags: []string{"failpoints"}, args: []string{"--replicate-members", "2"},
			})
			for _, c := range w.controllers {
				w.start(c)
			}
			w.create(4, 4)
			w.await(4)
			before := w.copyStores()
			w.create(2, 4)
			w.finish() // both disks have the same records then; a standby with more would lead
			first, others := w.leader()
			if err := first.Kill(); err != nil {
				t.Fatal(err)
			}
			if restored {
				w.restore(before)
			} else {
				w.deleteStream()
			}
			if err := first.Launch(failpoint.Env + "=" + failpoint.RefillStep + "." + step + ":1"); err != nil {
				t.Fatal(err)
			}
			w.ends(first)
			text, err := first.NewestOutput()
			if want := "failpoint " + failpoint.RefillStep + "." + step + ":1: killing process"; err != nil ||
				!strings.Contains(text, want) {
				t.Errorf("it did not end there: %v\n%s", err, text)
			}
			w.create(2, 2)
			if text, err := others[0].NewestOutput(); err != nil || strings.Contains(text, leading) {
				t.Errorf("the standby leads, %v", err)
			}
			if err := first.Launch(); err != nil {
				t.Fatal(err)
			}
			w.leads(first)
			w.finish()
			w.judge()
			if text := w.refilled(first); strings.Count(text, "the stream of the log") != 1 {
				t.Errorf("the log says of it: %s", text)
			}
		})
	}
}

// TestAStreamAndItsLeadersDiskAreLost: the standby has all that the Lease names, and cannot know whether the leader did
// more. It says what to do, and takes nothing. The leader's disk, found again, goes on.
func TestAStreamAndItsLeadersDiskAreLost(t *testing.T) {
	atLength(t)
	w := newWorld(t, 2, natstest.NewServers(t, 1), "--replicate-members", "2")
	for _, c := range w.controllers {
		w.start(c)
	}
	w.create(4, 4)
	w.await(6)
	first, others := w.leader()
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.deleteStream()
	w.says(others[0], "Start the controller that led last, on its volume")
	if text, err := others[0].NewestOutput(); err != nil || strings.Contains(text, leading) {
		t.Errorf("the standby leads, %v", err)
	}
	w.start(first)
	w.finish()
	w.judge()
}
