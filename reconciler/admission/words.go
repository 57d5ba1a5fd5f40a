package admission

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/due"
)

// A healthy pod waits a moment for its image and its network, which is not worth a record. So an observation whose only
// news is the reason why a pod waits (intake.Intake.Words) is kept for a while. It is recorded if the pod still waits
// for the same reason after wordsHold, or together with the pod's next record. Each pod gets at most wordsMost records
// for such observations alone; further ones are counted (events.Evidence.PassedOver).
const (
	wordsHold = 5 * time.Second
	wordsMost = 16 // most records for such observations alone, for each pod and process
)

// Words keeps observations whose only news is why a pod waits, until they are recorded or dropped. A crash loses them:
// the listing at the next start shows the newest state of each pod, and that start's gap record says that counts may be
// missing.
type Words struct {
	pods map[types.UID]*podWords
	dues due.Queue[types.UID]
}

type podWords struct {
	newest *events.Observation // the observation that waits; nil for none
	told   int                 // number of records made for such an observation alone
	passed uint64              // dropped observations that no record has counted yet
}

// NewWords returns a Words without observations.
func NewWords() Words {
	return Words{pods: map[types.UID]*podWords{}, dues: due.New(cmp.Compare[types.UID])}
}

// Note is called for each observation that is passed on. recorded says that it gave a record; only says that its only
// news is why the pod waits. Note returns the number of dropped observations to count in a record of the pod.
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
	case x != nil: // the reason is the one recorded last, so drop what waits
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

// Next returns an observation to record alone, because its reason has lasted for wordsHold; ok is false for none.
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

// Recorded counts a record that was made for an observation from Next alone.
func (w *Words) Recorded(uid types.UID) { w.pods[uid].told++ }

// Wake returns when the next waiting observation is to be recorded; 0 for never.
func (w *Words) Wake() events.Time { return w.dues.First() }

// Shift moves all times by a step of the wall clock, so that waits last as long as before.
func (w *Words) Shift(step time.Duration) { w.dues.Shift(step) }
