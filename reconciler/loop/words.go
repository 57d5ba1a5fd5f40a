package loop

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// A healthy pod waits for its image and network for a moment, which is not worth a record. So an observation with no
// news but words (projector.Intake.Words) is held back. It is recorded if it still holds after wordsHold, or with the
// next record of the pod. Each pod gets at most wordsMost such records; further ones are counted
// (events.Evidence.PassedOver).
const (
	wordsHold = 5 * time.Second
	wordsMost = 16 // per pod and run
)

// words holds the held-back observations and counts the recorded ones. A crash loses both: the next start's listing
// shows the newest words, and its gap record covers the lost counts. Until then nothing does.
type words struct {
	pods map[types.UID]*podWords
	dues delayingQueue[types.UID]
}

type podWords struct {
	newest *events.Observation // held back; nil for none
	told   int                 // recorded by themselves
	passed uint64              // neither recorded nor counted yet
}

func newWords() words {
	return words{pods: map[types.UID]*podWords{}, dues: newDelayingQueue(cmp.Compare[types.UID])}
}

// hear takes in an admitted observation. recorded says that it gave a record, only that it has no news but words. It
// returns the number of dropped words to count in a record.
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
	case x != nil: // repeats what was recorded
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

// sayWords records the words that have held for wordsHold.
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
