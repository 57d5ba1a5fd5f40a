package bench

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/test/bench/kubelet"
)

// runTimes are the run times of pods; each row is equally likely: a command that ends at once, a short one, and work.
var runTimes = []func(*rand.Rand) time.Duration{
	func(*rand.Rand) time.Duration { return 0 },
	func(*rand.Rand) time.Duration { return 200 * time.Millisecond },
	func(r *rand.Rand) time.Duration { // log-normal around 3 s: one of six above 4.9 s, one of 100 above 9.6 s
		return time.Duration(3 * math.Exp(r.NormFloat64()/2) * float64(time.Second))
	},
}

// failOne: one of 20 pods fails, in a Job that does not set itself how many fail.
const failOne = 20

// fates returns how a pod of one Job lives (its fate). place is the completion index; pods without one share the place
// "", and are counted in the order in which they are seen. before is the number of earlier pods with that place. So
// both contenders have the same pods.
type fates func(place string, before int) kubelet.Fate

// alike: every pod ends at once and succeeds.
func alike(string, int) kubelet.Fate { return kubelet.Fate{} }

// fates draws the fates of a shape's pods.
func (s Setting) fates(of shape) fates {
	if of.alike {
		return alike
	}
	failing := map[string]bool{} // indexes with a failing first pod, if the shape sets their number
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

// random returns the random source for the fate of one pod.
func (s Setting) random(job, place string, before int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(job + "/" + place + "/" + strconv.Itoa(before))) // it never returns an error
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// expected returns the shape with the number of failing pods under a setting. A Job makes no more pods than its
// completions and its failures need, in whatever order its pods end. So the number follows from the fates.
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
