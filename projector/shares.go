package projector

import (
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// budgets are what namespaces have written into the log lately. A share is a bucket that leaks: each record of the
// namespace fills it by the record's weight, and a budget (events.Settings.NamespaceBudget) leaks out of it within an
// hour. So a namespace that writes less than its budget in an hour is never over it, and none writes more than two
// budgets in full within an hour. Shares are folded from records, so a restart gives no namespace a new one.
type budgets struct {
	of   map[string]*Bucket // by namespace
	most int                // how many there may be before those that are empty are forgotten
}

// Bucket is a share of the log. The zero Bucket is empty.
type Bucket struct {
	bytes int64       // Invariant: 0 <= bytes <= maxShare budgets
	at    events.Time // as of
}

const (
	leakTime = time.Hour // in which a budget leaks
	maxShare = 2         // budgets that a share holds: who stops is forgiven within two hours
)

// Left is what is in the bucket later.
func (s *Bucket) Left(now events.Time, budget int64) int64 {
	passed := min(max(now.Sub(s.at), 0), maxShare*leakTime)
	high, low := bits.Mul64(uint64(budget), uint64(passed))
	leaked, _ := bits.Div64(high, low, uint64(leakTime))
	return max(0, s.bytes-int64(leaked))
}

// Add fills the bucket by the weight of a record, up to maxShare budgets.
func (s *Bucket) Add(weight int, now events.Time, budget int64) {
	s.bytes = min(s.Left(now, budget)+int64(weight), maxShare*budget)
	s.at = now
}

// Shift moves the bucket with the clock.
func (s *Bucket) Shift(step time.Duration) { s.at = s.at.Add(step) }

// Full reports whether a share is two budgets, but for what leaks in a minute: the namespace writes faster than a
// budget in an hour, and has done so for long.
func Full(share, budget int64) bool {
	return share >= maxShare*budget-budget/int64(leakTime/time.Minute)
}

// Share is what the namespace has written into the log and not worked off, in bytes. It is over its budget when that is
// more than Settings.NamespaceBudget.
func (w *World) Share(namespace string, now events.Time) int64 {
	if s := w.budgets.of[namespace]; s != nil {
		return s.Left(now, w.Settings.NamespaceBudget)
	}
	return 0
}

// OverBudget counts the namespaces that are over their budgets, and names the first of them by their names, most at
// most.
func (w *World) OverBudget(now events.Time, most int) (n int, names []string) {
	budget := w.Settings.NamespaceBudget
	if budget == 0 {
		return 0, nil
	}
	for namespace, s := range w.budgets.of {
		if s.Left(now, budget) > budget {
			names = append(names, namespace)
		}
	}
	slices.Sort(names)
	return len(names), names[:min(most, len(names))]
}

// apply adds a record to the share of its namespace. A stream's state is charged to no namespace: it is stored because
// a file is full, whoever filled it. A budget of 0 is none.
func (b *budgets) apply(rec *events.Record, namespace string, budget int64) {
	if budget == 0 || namespace == "" || rec.Kind == events.KindStateStored {
		return
	}
	if len(b.of) > b.most {
		maps.DeleteFunc(b.of, func(_ string, s *Bucket) bool { return s.Left(rec.Time, budget) == 0 })
		b.most = 2*len(b.of) + 64
	}
	s := b.of[namespace]
	if s == nil {
		s = &Bucket{}
		b.of[namespace] = s
	}
	s.Add(events.Weight(rec), rec.Time, budget)
}

// applyToController folds what the controller's stream says to shares.
func (b *budgets) applyToController(rec *events.Record, budget int64) {
	switch f := rec.Facts.(type) {
	case *events.ClockStepped:
		for _, s := range b.of {
			s.Shift(f.Step)
		}
	case *events.ControllerStarted:
		if f.Settings.NamespaceBudget == 0 {
			clear(b.of)
		}
	case *events.PassedOver:
		b.apply(rec, rec.Evidence.Namespace, budget)
	}
}

// toWire stores the shares that have not leaked out.
func (b *budgets) toWire(s *pb.WorldState, now events.Time, budget int64) {
	for _, namespace := range slices.Sorted(maps.Keys(b.of)) {
		if x := b.of[namespace]; x.Left(now, budget) > 0 {
			s.Shares = append(s.Shares, &pb.ShareState{Namespace: namespace, Bytes: x.bytes, At: int64(x.at)})
		}
	}
}

func (b *budgets) fromWire(s *pb.WorldState) {
	clear(b.of)
	for _, w := range s.GetShares() {
		b.of[w.GetNamespace()] = &Bucket{bytes: w.GetBytes(), at: events.Time(w.GetAt())}
	}
}

// namespaceOf names the namespace of a record; s is what is held of its stream, nil for nothing.
func (w *World) namespaceOf(rec *events.Record, s Subject) string {
	switch {
	case rec.Evidence.Namespace != "":
		return rec.Evidence.Namespace
	case s != nil:
		return s.Reference().Namespace
	default:
		return w.RefOf(rec.Stream).Namespace
	}
}
