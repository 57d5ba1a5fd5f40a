package projector

import (
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// budgets tracks how much log each namespace has written. Each namespace has a leaky bucket: a record adds its weight,
// and one budget (events.Settings.NamespaceBudget) leaks per hour. So a namespace that writes less than its budget per
// hour is never over it, and none writes more than two budgets in full within an hour. Buckets are folded from
// records, so a restart does not reset them.
type budgets struct {
	of   map[string]*Bucket // by namespace
	most int                // size of the map at which empty buckets are dropped
}

// Bucket is the leaky bucket of a namespace. The zero Bucket is empty.
type Bucket struct {
	bytes int64       // Invariant: 0 <= bytes <= maxShare budgets
	at    events.Time // time of bytes
}

const (
	leakTime = time.Hour // time in which one budget leaks
	maxShare = 2         // capacity in budgets: full to empty takes two hours
)

// Left returns the bytes in the bucket at time now. Example: 30 MB with a budget of 20 MB per hour are 10 MB one hour
// later.
func (s *Bucket) Left(now events.Time, budget int64) int64 {
	passed := min(max(now.Sub(s.at), 0), maxShare*leakTime)
	high, low := bits.Mul64(uint64(budget), uint64(passed))
	leaked, _ := bits.Div64(high, low, uint64(leakTime))
	return max(0, s.bytes-int64(leaked))
}

// Add adds a record's weight, up to maxShare budgets.
func (s *Bucket) Add(weight int, now events.Time, budget int64) {
	s.bytes = min(s.Left(now, budget)+int64(weight), maxShare*budget)
	s.at = now
}

// Shift moves the bucket by a clock step.
func (s *Bucket) Shift(step time.Duration) { s.at = s.at.Add(step) }

// Full reports whether share is two budgets, less the leak of one minute: the namespace has written faster than its
// budget for a long time. Example: with a budget of 60 MB, Full is true from 119 MB on.
func Full(share, budget int64) bool {
	return share >= maxShare*budget-budget/int64(leakTime/time.Minute)
}

// Share returns the bytes in the namespace's bucket. Above Settings.NamespaceBudget the namespace is over its budget.
func (w *World) Share(namespace string, now events.Time) int64 {
	if s := w.budgets.of[namespace]; s != nil {
		return s.Left(now, w.Settings.NamespaceBudget)
	}
	return 0
}

// OverBudget returns the number of namespaces over budget, and the first names in alphabetical order, at most most of
// them.
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

// apply adds a record to the bucket of its namespace. A StateStored record is charged to no namespace, because it is
// written when a file is full, whoever filled it. With a budget of 0 nothing is tracked.
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

// applyToController folds a record of the controller's stream.
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

// toWire encodes the buckets that are not empty.
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

// namespaceOf returns the namespace of a record; s is the subject of its stream, or nil.
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
