package copies

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jobledger/jobledger/test/controlplane"
)

// TestTwoForksCopyToOnePlace: a log at rest is copied with its directory, as a snapshot of a volume is, and a controller
// goes on with each, in a namespace of its own: nothing but the copy keeps them apart. One of them ends, in words; no
// object is overwritten, and the copy is the log of the other one.
func TestTwoForksCopyToOnePlace(t *testing.T) {
	t.Parallel()
	places := newPlaces(t)
	for _, n := range rows(t, 50) {
		kind := []forkKind{{"at once", atOnce}, {"away", away}, {"late", late}}[n%3]
		t.Run(fmt.Sprintf("fork-%d %s", n, kind.name), func(t *testing.T) {
			t.Parallel()
			p, r := places(t, newDir(t), n), random(t, n)
			ours := newWorld(t, sharedCluster(), newDir(t), p, quickly...)
			ours.start()
			ours.job("before", int32(2+r.IntN(5)), controlplane.AnnotationRunFor, "100ms")
			ours.await(ours.finished)
			ours.atRest()
			ours.stop()
			theirs := ours.fork()
			end := p.guard(t)
			right, wrong := kind.play(ours, theirs, r)
			wrong.refusedByTheCopy()
			right.must(right.leads())
			right.await(right.finished)
			right.atRest()
			wrong.launch(nil) // and once more
			wrong.refusedByTheCopy()
			right.stop()
			t.Logf("%d objects, none overwritten; life %d of the one that is right", end(), right.lives)
			right.judge()
			right.sound(right.log())
			right.whole("again")
			wrong.sound(wrong.log())
		})
	}
}

// forkKind is how two forks meet.
type forkKind struct {
	name string
	play func(ours, theirs *world, r *rand.Rand) (right, wrong *world)
}

// fork is a world with a log of the same records, in a namespace of its own.
func (w *world) fork() *world {
	w.Helper()
	other := newWorld(w.T, sharedCluster(), newDir(w.T), w.place, w.flags...)
	w.must(os.CopyFS(other.log(), os.DirFS(w.log())))
	w.must(filepath.WalkDir(other.log(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600) // as they were
	}))
	return other
}

// inWords is what the controller on the wrong fork says: what the copy has, and what to do.
var inWords = regexp.MustCompile(`(?i)the copy.*--force-new-epoch=\d+`)

// refusedByTheCopy waits until the newest life has ended by itself, and said why.
func (w *world) refusedByTheCopy() {
	w.Helper()
	select {
	case <-w.controller.Ended():
	case <-w.ctx.Done():
		w.Fatal("the controller on the wrong fork does not end")
	}
	said := w.ended(errEnds)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := lines[len(lines)-1]; !inWords.MatchString(last) {
		w.Errorf("the last words of the controller on the wrong fork are %q", last)
	} else {
		w.Logf("%s", last)
	}
}

// late: theirs is started when the copy has records of ours that it does not have.
func late(ours, theirs *world, _ *rand.Rand) (right, wrong *world) {
	ours.start()
	ours.job("one", 3, controlplane.AnnotationRunFor, "100ms")
	ours.await(ours.finished)
	ours.atRest()
	theirs.launch(nil)
	return ours, theirs
}

// atOnce: both are started, at almost the same moment, and have Jobs until one of them has ended.
func atOnce(ours, theirs *world, r *rand.Rand) (right, wrong *world) {
	first, second := ours, theirs
	if r.IntN(2) == 0 {
		first, second = theirs, ours
	}
	first.launch(nil)
	stagger := time.Duration(r.Int64N(int64(400 * time.Millisecond)))
	ours.Logf("the second one is started %s later", stagger)
	<-time.After(stagger)
	second.launch(nil)
	return race(ours, theirs)
}

// race gives both Jobs until one of them ends.
func race(ours, theirs *world) (right, wrong *world) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			for _, w := range []*world{ours, theirs} {
				w.job(fmt.Sprintf("one-%d", n), 1, controlplane.AnnotationRunFor, "100ms")
			}
		case <-ours.controller.Ended():
			return theirs, ours
		case <-theirs.controller.Ended():
			return ours, theirs
		case <-ours.ctx.Done():
			ours.Fatal("both forks copy to one place, and none of them ends")
		}
	}
}

// away: theirs is started while the place does not answer it, so that its start cannot ask. It works, until the place is
// back; then it ends.
func away(ours, theirs *world, _ *rand.Rand) (right, wrong *world) {
	there := theirs.place
	closed, open := there.behindAGate(theirs)
	theirs.place = closed
	theirs.start()
	ours.start()
	for _, w := range []*world{ours, theirs} {
		w.job("one", 3, controlplane.AnnotationRunFor, "100ms")
		w.await(w.finished)
	}
	ours.atRest()
	open()
	theirs.place = there // of the next life
	return ours, theirs
}

// behindAGate is the same place by another address, at which nothing answers until it is opened.
func (p *place) behindAGate(w *world) (other *place, open func()) {
	w.Helper()
	if strings.HasPrefix(p.address, "s3://") {
		return p.behindAProxy(w)
	}
	link := filepath.Join(w.dir, "mount")
	w.must(os.Symlink(filepath.Join(w.dir, "nothing"), link))
	return &place{address: link, root: p.root}, func() {
		w.Helper()
		to := link + ".new"
		w.must(os.Symlink(p.root, to))
		w.must(os.Rename(to, link))
	}
}

// behindAProxy is a server that takes connections, and closes them at once until it is opened.
func (p *place) behindAProxy(w *world) (other *place, open func()) {
	w.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	w.Cleanup(func() { _ = listener.Close() }) // closed once
	url := strings.TrimPrefix(p.env[0], "AWS_ENDPOINT_URL=")
	var opened atomic.Bool
	go func() { // ends with the listener
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			if !opened.Load() {
				_ = in.Close()
				continue
			}
			go pipe(in, strings.TrimPrefix(url, "http://"))
		}
	}()
	env := append([]string{"AWS_ENDPOINT_URL=http://" + listener.Addr().String()}, p.env[1:]...)
	return &place{address: p.address, env: env, root: p.root}, func() { opened.Store(true) }
}

// pipe joins a connection with another one to the address, until one of them ends.
func pipe(in net.Conn, address string) {
	defer in.Close()
	out, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { // ends with the connections
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(in, out)
}
