package bench

import (
	"strconv"
	"testing"
	"time"
)

// TestBothContendersHaveTheSamePods: a fate depends only on the seed, the Job, and the place of the pod.
func TestBothContendersHaveTheSamePods(t *testing.T) {
	s := Setting{Profile: Life, Seed: 7}
	job := shape{name: "a", pods: 1000, parallelism: 10, indexed: true}
	one, two := s.fates(job), s.fates(job)
	two("5", 0) // in another order
	differ := 0
	for i := range 1000 {
		if one("", i) != two("", i) {
			t.Fatalf("pod %d lives %+v, and %+v", i, one("", i), two("", i))
		}
		if one("", i) != (Setting{Profile: Life, Seed: 8}).fates(job)("", i) {
			differ++
		}
	}
	if differ < 300 {
		t.Errorf("another seed changes %d of 1000 pods", differ)
	}
}

// TestTheTableOfRunTimes: a third runs for no time, a third for 0.2 s, a third around 3 s, and one of 20 fails.
func TestTheTableOfRunTimes(t *testing.T) {
	fate := Setting{Profile: Life, Seed: 1}.fates(shape{name: "a", pods: 1, parallelism: 1})
	const pods = 6000
	var none, short, long, under, failed int
	for i := range pods {
		f := fate("", i)
		switch f.RunFor {
		case 0:
			none++
		case 200 * time.Millisecond:
			short++
		default:
			long++
			if f.RunFor < 3*time.Second {
				under++
			}
		}
		if f.Fails {
			failed++
		}
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{{"no time", none, pods / 3}, {"0.2 s", short, pods / 3}, {"long", long, pods / 3}, {"under the median of 3 s", under, pods / 6}, {"failed", failed, pods / 20}} {
		if c.got < c.want*9/10 || c.got > c.want*11/10 {
			t.Errorf("%s: %d pods, want about %d", c.what, c.got, c.want)
		}
	}
}

// TestHowManyFailFollowsFromTheSeed: the number includes failures of replacements for failed pods.
func TestHowManyFailFollowsFromTheSeed(t *testing.T) {
	life := Setting{Profile: Life, Seed: 3}
	for _, row := range []struct {
		sentence string
		setting  Setting
		shape    shape
	}{
		{"any pods", life, shape{name: "a", pods: 400, parallelism: 100}},
		{"indexes", life, shape{name: "a", pods: 400, parallelism: 100, indexed: true}},
		{"a Job that says how many", life, shape{name: "a", pods: 20, parallelism: 20, indexed: true, perIndex: true, fail: 2}},
		{"instant pods", Setting{Profile: Instant, Seed: 3}, shape{name: "a", pods: 20, parallelism: 20}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			expected := row.setting.expected(row.shape)
			fate, done, failed := row.setting.fates(row.shape), 0, 0
			var queue []string // places of the pods to make, in order
			tries := map[string]int{}
			for i := range int(row.shape.pods) {
				queue = append(queue, place(row.shape, i))
			}
			for ; len(queue) > 0; queue = queue[1:] {
				at := queue[0]
				f := fate(at, tries[at])
				tries[at]++
				if f.Fails {
					failed++
					queue = append(queue, at)
				} else {
					done++
				}
			}
			if done != int(row.shape.pods) || failed != expected.fail {
				t.Errorf("%d pods succeed and %d fail, expected are %d and %d", done, failed, row.shape.pods, expected.fail)
			}
			if row.setting.Profile == Life && failed == 0 {
				t.Error("no pod fails: the row shows nothing")
			}
		})
	}
}

// place returns the place of pod number i in the first round of a Job's pods.
func place(of shape, i int) string {
	if of.indexed {
		return strconv.Itoa(i)
	}
	return ""
}

func TestSeeds(t *testing.T) {
	today := time.Date(2026, 11, 28, 23, 0, 0, 0, time.UTC)
	for text, want := range map[string]uint64{"7": 7, "date": 20261128, "0": 0, "x": 0} {
		got, err := ParseSeed(text, today)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("seed %q is %d (%v), want %d", text, got, err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	var s Setting
	if err := s.setDefaults(); err != nil || s.String() != "life" || s.Seed != 1 {
		t.Errorf("the default is %q with seed %d (%v), want life with 1", s, s.Seed, err)
	}
	far := Setting{Profile: Instant, Network: "20ms", Place: other}
	if err := far.setDefaults(); err != nil || far.String() != "instant, 20ms, other processors" {
		t.Errorf("it is %q (%v)", far, err)
	}
	if err := (&Setting{Profile: "x"}).setDefaults(); err == nil {
		t.Error("a profile that does not exist is taken")
	}
}
