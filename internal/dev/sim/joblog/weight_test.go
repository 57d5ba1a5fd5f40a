package joblog_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
)

// TestWeightIsAboutTheSize: the weight is close to the size, for a whole log and for each kind of record that makes up
// more than a hundredth of it.
func TestWeightIsAboutTheSize(t *testing.T) {
	log := joblog.New(t, joblog.Busy(20_000))
	sizes, weights, size, weight := map[events.Kind]int{}, map[events.Kind]int{}, 0, 0
	for i := range log.Records {
		kind := log.Records[i].Kind
		s, w := len(log.Stored[i]), events.Weight(&log.Records[i])
		sizes[kind], weights[kind] = sizes[kind]+s, weights[kind]+w
		size, weight = size+s, weight+w
	}
	check := func(what string, size, weight, percent int) {
		if off := 100 * (weight - size) / size; off > percent || off < -percent {
			t.Errorf("%s: %d bytes, and the weight is %d", what, size, weight)
		}
	}
	check("the log", size, weight, 5)
	for kind := range sizes {
		if sizes[kind] > size/100 {
			check(kind.String(), sizes[kind], weights[kind], 15)
		}
	}
}
