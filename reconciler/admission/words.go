package admission

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/due"
)

// A healthy pod waits for its image and network for a moment, which is not worth a record. So an observation with no
// news but words (intake.Intake.Words) is held back. It is recorded if it still holds after wordsHold, or with the
// next record of the pod. Each pod gets at most wordsMost such records; further ones are counted
// (events.Evidence.PassedOver).
const (
	wordsHold = 5 * time.Second
	wordsMost = 16 // per pod and run
)

// Words holds the held-back observations and counts the recorded ones. A crash loses both: the next start's listing
// shows the newest words, and its gap record covers the lost counts. Until then nothing does.
type Words struct {
	pods map[types.UID]*podWords
	dues due.Queue[types.UID]
}

type podWords struct {
	newest *events.Observation // held back; nil for none
	told   int                 // recorded by themselves
	passed uint64              // neither recorded nor counted yet
}

// NewWords returns the state without held-back observations.
func NewWords() Words {
	return Words{pods: map[types.UID]*podWords{}, dues: due.New(cmp.Compare[types.UID])}
}

// Note takes in an admitted observation. recorded says that it gave a record, only that it has no news but words. It
// returns the number of dropped words to count in a record.
func (w *Words) Note(o *events.Observation, recorded, only bool, now events.Time) (passed uint64) {
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
			w.dues.Set(uid, now.Add(wordsHold))
		}
		x.newest = o
	case x != nil: // repeats what was recorded
		w.drop(uid, x)
	}
	return passed
}

func (w *Words) drop(uid types.UID, x *podWords) {
	x.newest = nil
	w.dues.Set(uid, 0)
	if x.told == 0 && x.passed == 0 {
		delete(w.pods, uid)
	}
}

// Next returns an observation to record by itself, because its words have held for wordsHold; ok is false for none.
func (w *Words) Next(now events.Time) (o *events.Observation, ok bool) {
	for {
		uid, ok := w.dues.Next(now)
		if !ok {
			return nil, false
		}
		x := w.pods[uid]
		o := x.newest
		if x.newest = nil; x.told < wordsMost {
			return o, true
		}
		x.passed++
	}
}

// Recorded counts a record of the words of a pod.
func (w *Words) Recorded(uid types.UID) { w.pods[uid].told++ }

// Wake returns when the next words are due; 0 for never.
func (w *Words) Wake() events.Time { return w.dues.First() }

// Shift moves all times by a clock step.
func (w *Words) Shift(step time.Duration) { w.dues.Shift(step) }
