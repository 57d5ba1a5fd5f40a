package bench

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/test/bench/kubelet"
)

// runTimes are how long pods run, each row as often as any other: a command that ends at once, a short one, and work.
var runTimes = []func(*rand.Rand) time.Duration{
	func(*rand.Rand) time.Duration { return 0 },
	func(*rand.Rand) time.Duration { return 200 * time.Millisecond },
	func(r *rand.Rand) time.Duration { // log-normal around 3 s: one of six runs for more than 4.9 s, one of 100 for more than 9.6 s
		return time.Duration(3 * math.Exp(r.NormFloat64()/2) * float64(time.Second))
	},
}

// failOne of so many pods fails, in a Job that does not say itself how many fail.
const failOne = 20

// fates says how the pods of one Job live: of the pod with that place in the Job, when so many pods of the place were
// there before. The place is the completion index; pods without one share the place "", and are counted in the order in
// which they are seen. So both contenders have the same pods.
type fates func(place string, before int) kubelet.Fate

// alike: every pod ends at once and well.
func alike(string, int) kubelet.Fate { return kubelet.Fate{} }

// fates draws those of a shape.
func (s Setting) fates(of shape) fates {
	if of.alike {
		return alike
	}
	failing := map[string]bool{} // indexes with a first pod that fails, where the shape says how many
	for _, i := range s.random(of.name, "failing", 0).Perm(int(of.pods))[:of.fail] {
		failing[strconv.Itoa(i)] = of.perIndex
	}
	return func(place string, before int) (f kubelet.Fate) {
		f.Fails = failing[place] && before == 0
		if s.Profile == Instant {
			return f
		}
		r := s.random(of.name, place, before)
		f.RunFor = runTimes[r.IntN(len(runTimes))](r)
		if r.IntN(failOne) == 0 && !of.perIndex {
			f.Fails = true
		}
		return f
	}
}

// random is the source of one pod's fate.
func (s Setting) random(job, place string, before int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(job + "/" + place + "/" + strconv.Itoa(before))) // it never fails
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// expected is the shape with the number of pods of it that fail under a setting. A Job makes no pod more than its
// completions and its failures need, in whatever order its pods end; so the number follows from the fates.
func (s Setting) expected(of shape) shape {
	if s.Profile != Life || of.perIndex || of.alike {
		return of
	}
	fate := s.fates(of)
	places := 1
	if of.indexed {
		places = int(of.pods)
	}
	each := int(of.pods) / places
	for i := range places {
		place := ""
		if of.indexed {
			place = strconv.Itoa(i)
		}
		for before, done := 0, 0; done < each; before++ {
			if fate(place, before).Fails {
				of.fail++
			} else {
				done++
			}
		}
	}
	return of
}
