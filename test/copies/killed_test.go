package copies

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/child"
)

// points are where a process that works on a copy can be made to end. A controller tries the place at its start: its
// first put and delete are of the object that it tries with.
var points = []string{
	"place.before.put-object", "place.after.put-object", "place.before.replace-manifest", "place.after.replace-manifest",
}

// TestACopyingControllerIsKilled: a controller ends again and again, at a request to the place or at a moment, under
// Jobs. After each end the copy restores to a head that the log has. The last life ends the Jobs, and the copy is whole.
func TestACopyingControllerIsKilled(t *testing.T) {
	t.Parallel()
	atLength(t)
	dir := newDir(t)
	w := newWorld(t, sharedCluster(), dir, newPlaces(t)(t, dir, 0))
	r := random(t, 0)
	end := w.place.guard(t)
	kills := 0
	for _, point := range points {
		for count := 1; count <= 5; count++ {
			w.killedAt(fmt.Sprintf("%s:%d", point, count), kills)
			kills++
		}
	}
	for range 50 {
		w.launch(nil)
		w.job(fmt.Sprintf("one-%d", kills), 1, controlplane.AnnotationRunFor, "200ms")
		after := time.Duration(r.Int64N(int64(12 * time.Second)))
		w.load(after, fmt.Sprintf("moment-%d", kills))
		w.must(w.controller.Kill())
		w.restores(fmt.Sprintf("after %s", after), kills)
		kills++
	}
	w.start()
	w.await(w.finished)
	w.atRest()
	w.stop()
	t.Logf("%d kills, %d objects, none overwritten", kills, end())
	w.judge()
	w.sound(w.log())
	w.whole("again")
}

// killedAt begins a life that ends at a point, under Jobs.
func (w *world) killedAt(point string, n int) {
	w.Helper()
	w.launch(nil, "JOBLEDGER_FAILPOINT="+point)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-tick.C:
			if i%10 == 0 {
				w.job(fmt.Sprintf("point-%d-%d", n, i), 1, controlplane.AnnotationRunFor, "200ms")
			}
			continue
		case <-w.controller.Ended():
		case <-w.ctx.Done():
			w.Fatalf("%s is not reached", point)
		}
		break
	}
	said := w.ended(errEnds)
	if !strings.Contains(said, "failpoint "+point+": killing process") {
		w.Fatalf("it ended by itself before %s", point)
	}
	w.restores("at "+point, n)
}

// restores checks what the copy restores to after the end of a process. Before the first manifest there is no copy.
func (w *world) restores(when string, n int) {
	w.Helper()
	if w.place.manifest(w.T) == nil {
		w.Logf("%s: there is no copy yet", when)
		return
	}
	if w.controller.Running() { // its log is compared once it has ended
		dir := filepath.Join(w.dir, fmt.Sprintf("restored-%d", n))
		w.told("restore", "--from", w.place.address, "--log", dir)
		w.heads = append(w.heads, w.archive(dir).Head())
		return
	}
	log := w.archive(w.log())
	head := w.prefix(fmt.Sprintf("restored-%d", n), log)
	w.Logf("%s: restored is record %d of %d", when, head.Sequence, log.Head().Sequence)
}

// TestTheCommandsOfACopyAreKilled: backup, restore and drill end at each of their requests to the place, and at random
// moments. What a backup leaves restores to a head that the log had; a restore that ended early is no log, and the next
// one makes it; the next drill leaves nothing.
func TestTheCommandsOfACopyAreKilled(t *testing.T) {
	t.Parallel()
	atLength(t)
	dir := newDir(t)
	w := newWorld(t, sharedCluster(), dir, newPlaces(t)(t, dir, 0))
	w.start()
	w.job("wide", 10, controlplane.AnnotationRunFor, "100ms")
	w.await(w.finished)
	r := random(t, 0)
	other := *w
	p := *w.place
	other.place = &p
	other.place.address, other.place.root = p.address+"-backup", p.root+"-backup"
	other.backupsAreKilled(r)
	w.atRest()
	w.stop()
	log := w.archive(w.log())
	for _, head := range other.heads {
		if hash, err := log.Chain(head.Sequence); err != nil || hash != head.Hash {
			w.Errorf("a backup that was killed restores to record %d, hash %s, where the log has %s (%v)", head.Sequence, head.Hash, hash, err)
		}
	}
	other.told("backup", "--log", w.log(), "--to", other.place.address)
	other.whole("of-backups")
	w.restoresAreKilled(r)
	w.drillsAreKilled(r)
	w.whole("again")
}

// backupsAreKilled copies a log, whose controller runs and copies it to another place, with Jobs between.
func (w *world) backupsAreKilled(r *rand.Rand) {
	w.Helper()
	kills := 0
	args := []string{"backup", "--log", w.log(), "--to", w.place.address}
	for _, point := range append(points, "place.before.get-object", "place.after.get-object") {
		for count := 1; w.dies(fmt.Sprintf("%s:%d", point, count), args...); count++ {
			w.restores(point, 1000+kills)
			kills++
		}
		w.job(fmt.Sprintf("before-%d", kills), 1, controlplane.AnnotationRunFor, "100ms")
		w.await(w.finished)
	}
	for range 50 {
		w.job(fmt.Sprintf("moment-%d", kills), 1, controlplane.AnnotationRunFor, "100ms")
		w.dieAt(time.Duration(r.Int64N(int64(100*time.Millisecond))), args...)
		w.restores("at a moment", 1000+kills)
		kills++
	}
	w.await(w.finished)
	w.Logf("%d backups were killed", kills)
}

// restoresAreKilled restores into one directory until it is whole, each time into a new one.
func (w *world) restoresAreKilled(r *rand.Rand) {
	w.Helper()
	kills := 0
	again := func(dir string, early bool) {
		w.Helper()
		if _, err := w.jobledger("verify", "--log", dir); err == nil {
			if early {
				w.Errorf("a restore that was killed at a request left a log in %s", dir)
			}
			w.sound(dir) // it was killed after its last step
			return
		}
		w.told("restore", "--from", w.place.address, "--log", dir)
		w.sound(dir)
	}
	for _, point := range []string{"place.before.get-object", "place.after.get-object"} {
		for count := 1; ; count++ {
			dir := filepath.Join(w.dir, fmt.Sprintf("into-%s-%d", point, count)) // the last one of a point is not killed
			if !w.dies(fmt.Sprintf("%s:%d", point, count), "restore", "--from", w.place.address, "--log", dir) {
				break
			}
			again(dir, true)
			kills++
		}
	}
	for range 50 {
		dir := filepath.Join(w.dir, fmt.Sprintf("into-%d", kills))
		if w.dieAt(time.Duration(r.Int64N(int64(60*time.Millisecond))), "restore", "--from", w.place.address, "--log", dir) {
			again(dir, false)
		}
		kills++
	}
	w.Logf("%d restores were killed", kills)
}

// drillsAreKilled drills below one directory: each finds what the one before left, and the last leaves nothing.
func (w *world) drillsAreKilled(r *rand.Rand) {
	w.Helper()
	kills, dir := 0, filepath.Join(w.dir, "drill")
	args := []string{"drill", "--from", w.place.address, "--log", w.log(), "--dir", dir}
	for count := 1; w.dies(fmt.Sprintf("place.after.get-object:%d", count), args...); count++ {
		kills++
	}
	for range 50 {
		w.dieAt(time.Duration(r.Int64N(int64(400*time.Millisecond))), args...)
		kills++
	}
	if out := w.told(args...); !strings.Contains(out, "drill: passed") {
		w.Errorf("a drill after %d that were killed: %s", kills, out)
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		w.Errorf("drills leave %v", left)
	}
	w.Logf("%d drills were killed", kills)
}

// dies runs the program, and reports whether it has ended at the point; else it must have ended well.
func (w *world) dies(point string, args ...string) bool {
	w.Helper()
	out, err := w.with([]string{"JOBLEDGER_FAILPOINT=" + point}, args...)
	if err != nil && !strings.Contains(err.Error(), "failpoint "+point+": killing process") {
		w.Fatalf("it is to end at %s: %v\n%s", point, err, out)
	}
	return err != nil
}

// dieAt kills the program after some time, and reports whether it had not ended by then.
func (w *world) dieAt(after time.Duration, args ...string) bool {
	w.Helper()
	cmd := exec.Command(shared.Program, args...)
	cmd.Env = append(append(os.Environ(), "GOGC="), w.place.env...)
	ended, err := child.Start(cmd)
	w.must(err)
	select {
	case err := <-ended:
		w.must(err)
		return false
	case <-time.After(after):
	}
	w.must(child.Signal(cmd.Process.Pid, syscall.SIGKILL))
	return <-ended != nil
}
