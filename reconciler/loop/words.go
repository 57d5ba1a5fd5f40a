package loop

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// A pod that is well waits for its image and its network for a moment; that is not worth a record. So a sighting that
// has no news but words (projector.Intake.Words) is held back: it is recorded when they still hold after a while, or
// with the record that comes anyway. Of one pod only so many are recorded by themselves; those behind are counted
// (events.Evidence.PassedOver).
const (
	wordsHold = 5 * time.Second
	wordsMost = 16 // of one pod, in one run
)

// words are those that are held back, and how many were recorded. They are lost in a crash: the listing of the next
// start shows the newest. The count of those before it is lost too: the next start tells of the gap in which no
// controller ran, and until then nothing does.
type words struct {
	pods map[types.UID]*podWords
	dues delayingQueue[types.UID]
}

type podWords struct {
	newest *events.Observation // that is held back; nil for none
	told   int                 // recorded by themselves
	passed uint64              // neither recorded nor told as passed over yet
}

func newWords() words {
	return words{pods: map[types.UID]*podWords{}, dues: newDelayingQueue(cmp.Compare[types.UID])}
}

// hear takes notice of an observation that was admitted: whether it gave a record, or has words alone. It returns how
// many words were passed over, for a record to say.
func (w *words) hear(o *events.Observation, recorded, only bool, now events.Time) (passed uint64) {
	object := o.Object()
	uid, gone := object.UID, types.UID("")
	if object.Gone {
		uid, gone = "", object.UID
	}
	x := w.pods[object.UID]
	switch {
	case gone != "" || (recorded && x != nil):
		if x == nil {
			return 0
		}
		passed, x.passed = x.passed, 0
		w.drop(cmp.Or(uid, gone), x)
		if gone != "" {
			delete(w.pods, gone)
		}
	case only:
		if x == nil {
			x = &podWords{}
			w.pods[uid] = x
		}
		if x.newest == nil {
			w.dues.set(uid, now.Add(wordsHold))
		}
		x.newest = o
	case x != nil: // it says again what was recorded
		w.drop(uid, x)
	}
	return passed
}

func (w *words) drop(uid types.UID, x *podWords) {
	x.newest = nil
	w.dues.set(uid, 0)
	if x.told == 0 && x.passed == 0 {
		delete(w.pods, uid)
	}
}

// sayWords records the words that have held for long enough.
func (l *Loop) sayWords(b *batch) (size int) {
	for !l.world.Listing && size < turnInputs/2 {
		uid, ok := l.words.dues.due(b.time)
		if !ok {
			break
		}
		x := l.words.pods[uid]
		o := x.newest
		if x.newest = nil; x.told >= wordsMost {
			x.passed++
			continue
		}
		drafts := l.intake.AdmitWords(o)
		if len(drafts) > 0 {
			x.told++
		}
		size += l.place(b, o, drafts)
	}
	return size
}
