package bench

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/test/bench/kubelet"
)

// runTimes draws how long a pod runs. Its three functions are equally likely: a command that ends at once, a short
// command, and real work.
var runTimes = []func(*rand.Rand) time.Duration{
	func(*rand.Rand) time.Duration { return 0 },
	func(*rand.Rand) time.Duration { return 200 * time.Millisecond },
	func(r *rand.Rand) time.Duration { // log-normal around 3 s: one of six above 4.9 s, one of 100 above 9.6 s
		return time.Duration(3 * math.Exp(r.NormFloat64()/2) * float64(time.Second))
	},
}

// failOne is the rate of failures in a Job for which no number of failures is set: one of 20 pods fails.
const failOne = 20

// fates returns how one pod of a Job lives: how long it runs, and whether it fails. With it, both compared controllers
// have the same pods. place is the pod's completion index; it is "" for pods without an index, which are numbered in
// the order in which they are seen. before is the number of earlier pods with the same place.
type fates func(place string, before int) kubelet.Fate

// alike is a function of type fates: each pod ends at once and succeeds.
func alike(string, int) kubelet.Fate { return kubelet.Fate{} }

// fates returns the function that decides how long each pod of a shape (description of a Job) runs, and whether it
// fails. It depends only on the shape and the seed of the setting.
func (s Setting) fates(of shape) fates {
	if of.alike {
		return alike
	}
	failing := map[string]bool{} // indexes whose first pod fails, if the shape sets how many such indexes there are
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

// random returns the source of random numbers for one pod, which depends on the seed, the Job, the pod's place and
// before; see type fates.
func (s Setting) random(job, place string, before int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(job + "/" + place + "/" + strconv.Itoa(before))) // it never returns an error
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// expected returns the shape with the number of pods that will fail. The fates alone determine this number: in whatever
// order its pods run, a Job creates only as many as its completions and its failures need.
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
