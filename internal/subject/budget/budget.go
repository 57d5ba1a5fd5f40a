package budget

import (
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Buckets tracks how much log each namespace has written lately. Each namespace has a leaky bucket: a record adds its
// weight in bytes, and one budget (events.Settings.NamespaceBudget) leaks per hour. So a namespace that writes less
// than its budget per hour never exceeds it, and none writes more than two budgets in full within an hour. Buckets are
// computed from records, so a restart does not reset them.
type Buckets struct {
	of   map[string]*Bucket // by namespace
	most int                // when the map has more entries than this, empty buckets are dropped
}

// New returns empty buckets.
func New() Buckets { return Buckets{of: map[string]*Bucket{}} }

// Bucket is the leaky bucket of a namespace. The zero Bucket is empty.
type Bucket struct {
	bytes int64 // as of time at. Invariant: 0 <= bytes <= maxShare budgets
	at    events.Time
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

// Add adds the weight of a record in bytes. The bucket holds at most maxShare budgets.
func (s *Bucket) Add(weight int, now events.Time, budget int64) {
	s.bytes = min(s.Left(now, budget)+int64(weight), maxShare*budget)
	s.at = now
}

// Shift adds a clock step to the bucket's time, so that the bytes in it stay the same.
func (s *Bucket) Shift(step time.Duration) { s.at = s.at.Add(step) }

// Full reports whether share, the bytes in a bucket, is at least two budgets less what leaks in a minute. The namespace
// has then written faster than its budget for a long time. Example: with a budget of 60 MB, Full is true from 119 MB
// on.
func Full(share, budget int64) bool {
	return share >= maxShare*budget-budget/int64(leakTime/time.Minute)
}

// Left returns the bytes in the namespace's bucket at time now.
func (b *Buckets) Left(namespace string, now events.Time, budget int64) int64 {
	if s := b.of[namespace]; s != nil {
		return s.Left(now, budget)
	}
	return 0
}

// Over returns the namespaces whose bucket holds more than one budget, in alphabetical order.
func (b *Buckets) Over(now events.Time, budget int64) (names []string) {
	for namespace, s := range b.of {
		if s.Left(now, budget) > budget {
			names = append(names, namespace)
		}
	}
	slices.Sort(names)
	return names
}

// Apply adds the weight of a record to the bucket of its namespace. A StateStored record counts for no namespace,
// because it is written when a file of the log is full, whoever filled it. With a budget of 0 nothing is tracked.
func (b *Buckets) Apply(rec *events.Record, namespace string, budget int64) {
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

// ApplyToController updates the buckets by a record of the controller's own stream. A clock step shifts them, a budget
// of 0 clears them, and a PassedOver record (a count of skipped observations) is charged to its namespace.
func (b *Buckets) ApplyToController(rec *events.Record, budget int64) {
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
		b.Apply(rec, rec.Evidence.Namespace, budget)
	}
}

// ToWire adds the buckets that are not empty to the encoded state of the controller.
func (b *Buckets) ToWire(s *pb.WorldState, now events.Time, budget int64) {
	for _, namespace := range slices.Sorted(maps.Keys(b.of)) {
		if x := b.of[namespace]; x.Left(now, budget) > 0 {
			s.Shares = append(s.Shares, &pb.ShareState{Namespace: namespace, Bytes: x.bytes, At: int64(x.at)})
		}
	}
}

// FromWire takes the buckets from the encoded state of the controller.
func (b *Buckets) FromWire(s *pb.WorldState) {
	clear(b.of)
	for _, w := range s.GetShares() {
		b.of[w.GetNamespace()] = &Bucket{bytes: w.GetBytes(), at: events.Time(w.GetAt())}
	}
}
