package cronjob

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func runNamed(i int) events.RunName {
	return events.RunName{UID: types.UID(fmt.Sprintf("uid-%d", i)), Name: fmt.Sprintf("run-%d", i), Version: 1}
}

// TestTheListOfActiveJobsAsItIsSeen: a newer status is seen while changes of the list on top of the older one are not
// yet published. The changes are made to the newer list, too. The fast way equals the dumb way, on short and long
// lists, also on lists that users may have written.
func TestTheListOfActiveJobsAsItIsSeen(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := func() (all []events.RunName) {
			for range rng.IntN(3 * shortList) {
				all = append(all, runNamed(rng.IntN(3*shortList)))
			}
			return all
		}
		c := newCronJob()
		c.Seen.Active = list()
		c.setActive(slices.Clone(c.Seen.Active))
		for range rng.IntN(8) {
			if rng.IntN(2) == 0 {
				c.leave(runNamed(rng.IntN(3*shortList)).UID, runNamed(rng.IntN(3*shortList)).UID)
			} else if r := runNamed(rng.IntN(4 * shortList)); !c.IsActive(r.UID) {
				c.join(r)
			}
		}
		published := list()
		if got, want := c.seenActive(published), dumbActive(c, published); !slices.Equal(got, want) {
			t.Fatalf("seed %d: the list is %v, want %v", seed, got, want)
		}
		for i := range 5 * shortList {
			uid := runNamed(i).UID
			want := slices.ContainsFunc(c.Active, func(r events.RunName) bool { return r.UID == uid })
			if got := c.IsActive(uid); got != want {
				t.Fatalf("seed %d: active is %v of %s, want %v", seed, got, uid, want)
			}
		}
	}
}

func dumbActive(c *CronJob, published []events.RunName) []events.RunName {
	has := func(all []events.RunName, uid types.UID) bool {
		return slices.ContainsFunc(all, func(r events.RunName) bool { return r.UID == uid })
	}
	active := slices.Clone(published)
	for _, r := range c.Seen.Active {
		if !has(c.Active, r.UID) {
			active = slices.DeleteFunc(active, func(a events.RunName) bool { return a.UID == r.UID })
		}
	}
	for _, r := range c.Active {
		if !has(c.Seen.Active, r.UID) && !has(active, r.UID) {
			active = append(active, r)
		}
	}
	return active
}

func TestJobsOfACronJobAreInOrder(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := newCronJob()
		for v := range uint64(200) {
			r := runNamed(rng.IntN(40))
			if rng.IntN(3) == 0 {
				c.dropRun(r.UID)
				continue
			}
			name := fmt.Sprintf("run-%d", rng.IntN(40)) // a new name for a UID, which no API server gives
			c.runSeen(&events.Record{}, &events.RunSeen{Job: r.UID, Name: name, Version: v})
		}
		got := c.SortedRuns()
		if len(got) != len(c.Runs) || !slices.IsSortedFunc(got, func(a, b *Run) int { return compareRuns(&a.RunSeen, &b.RunSeen) }) {
			t.Fatalf("seed %d: %d of %d Jobs, in order: %v", seed, len(got), len(c.Runs), got)
		}
		for _, r := range got {
			if c.Runs[r.Job] != r {
				t.Fatalf("seed %d: %s is in order, and is not the Job of that UID", seed, r.Name)
			}
		}
	}
}

func newCronJob() *CronJob {
	c, settings := &CronJob{}, events.DefaultSettings()
	c.Begin(events.CronJobStream("uid"), &settings, NewZones(), &Watch{})
	return c
}
