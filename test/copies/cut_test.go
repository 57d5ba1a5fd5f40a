package copies

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jobledger/jobledger/test/controlplane"
)

// TestTheVolumeIsLostUnderLoad: at a moment that a seed draws, under a Job with many pods and many Jobs of one pod, the
// controller is killed and its volume is gone. The copy is restored, and a controller goes on as the output of restore
// says, and as the start says that follows. All Jobs end, no pod is made or counted twice, and the log says which
// records it lost. The copy goes on in the same place.
func TestTheVolumeIsLostUnderLoad(t *testing.T) {
	t.Parallel()
	places := newPlaces(t)
	for _, n := range rows(t, 50) {
		t.Run(fmt.Sprintf("cut-%d", n), func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			w := newWorld(t, sharedCluster(), dir, places(t, dir, n), quickly...)
			w.cut(random(t, n))
		})
	}
}

// most is the longest time from the first pass of the copy to the end of the controller: two passes and some.
const most = 11 * time.Second

func (w *world) cut(r *rand.Rand) {
	w.Helper()
	withKey := r.IntN(2) == 0
	w.start()
	w.copied(1, 1)
	after := time.Duration(r.Int64N(int64(map[bool]time.Duration{false: most / 2, true: most}[long])))
	w.Logf("it is killed after %s; the key of the log was kept elsewhere: %t", after, withKey)
	w.job("wide", int32(30+r.IntN(40)), controlplane.AnnotationRunFor, "1200ms")
	w.load(after, "one")
	w.must(w.controller.Kill())
	aside, err := w.controller.LoseLog()
	w.must(err)
	dead := w.archive(aside)
	pods := w.pods()

	said := w.told("restore", "--from", w.place.address, "--log", w.log())
	restored := w.archive(w.log()).Head()
	if hash, err := dead.Chain(restored.Sequence); err != nil || hash != restored.Hash {
		w.Fatalf("restored was record %d, hash %s, where the dead log has %s (%v)", restored.Sequence, restored.Hash, hash, err)
	}
	if withKey { // with it the seals of pods that lost records made can be checked
		key, err := os.ReadFile(filepath.Join(aside, "KEY"))
		w.must(err)
		w.must(os.WriteFile(filepath.Join(w.log(), "KEY"), key, 0o600))
	}
	flag := w.goOn(w.commandLine(said, w.log())...)
	for n := range 5 {
		w.job(fmt.Sprintf("after-%d", n), 1, controlplane.AnnotationRunFor, "200ms")
	}
	w.await(w.finished)
	w.atRest()
	w.stop()
	w.judge()

	log := w.archive(w.log())
	all := w.losses(log, restored.Sequence)
	w.Logf("restored was record %d of %d; with %q the log went on to record %d, %d losses", restored.Sequence, dead.Head().Sequence,
		flag, log.Head().Sequence, len(all))
	switch {
	case len(all) > 1:
		w.Errorf("the log says %d times that records are lost: %v", len(all), all)
	case len(all) == 1:
		w.gap(all[0], log, dead, restored)
	case dead.Head() != restored:
		for name := range w.unknown(pods, log, restored.Sequence) {
			w.Errorf("%d records are lost, pod/%s shows that, and the log does not say so", dead.Head().Sequence-restored.Sequence, name)
		}
	}
	w.sound(w.log())
	w.whole("again")
}

// load makes Jobs of one pod until the time is over.
func (w *world) load(during time.Duration, prefix string) {
	w.Helper()
	over := time.NewTimer(during)
	defer over.Stop()
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			w.job(fmt.Sprintf("%s-%d", prefix, n), 1, controlplane.AnnotationRunFor, "400ms")
		case <-over.C:
			return
		case <-w.controller.Ended():
			w.Fatal(w.controller.Died())
		}
	}
}
