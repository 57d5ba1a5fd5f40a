package duetimes

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// TestKept: what kept a CronJob from starting between 09:00 and 10:00, by the facts alone, and whether that was so all
// the time.
func TestKept(t *testing.T) {
	type step struct {
		clock string
		facts events.Facts
	}
	seen := func(clock, policy string, suspend bool, active ...string) step {
		f := &events.CronJobSeen{Schedule: "0 * * * *", Policy: policy, Suspend: suspend}
		for _, a := range active {
			f.Active = append(f.Active, events.RunName{UID: types.UID(a), Name: a})
		}
		return step{clock, f}
	}
	run := func(clock, name, created string) step {
		return step{clock, &events.RunSeen{Job: types.UID(name), Name: name, Created: events.At(moment(created))}}
	}
	ended := func(clock, name string) step {
		return step{clock, &events.RunSeen{Job: types.UID(name), Name: name, Created: events.At(moment("08:00")), Result: events.ResultComplete}}
	}
	for _, row := range []struct {
		sentence string
		steps    []step
		want     string
		whole    bool
	}{
		{"nothing", []step{seen("08:00", "Forbid", false)}, "", false},
		{"suspended, and it goes on", []step{seen("08:30", "Allow", true)}, "suspended", true},
		{"suspended and resumed after the next due time", []step{seen("08:30", "Allow", true), seen("11:00", "Allow", false)}, "suspended", true},
		{"resumed between", []step{seen("08:30", "Allow", true), seen("09:30", "Allow", false)}, "suspended", false},
		{"suspended after it was due", []step{seen("08:30", "Allow", false), seen("09:10", "Allow", true)}, "suspended", false},
		{"suspended and resumed before", []step{seen("08:10", "Allow", true), seen("08:30", "Allow", false)}, "", false},
		{"a run that goes on", []step{run("08:00", "a", "08:00"), seen("08:01", "Forbid", false, "a")}, "a", true},
		{"a run of before that ends between", []step{run("08:00", "a", "08:00"), seen("08:01", "Forbid", false, "a"), ended("09:20", "a")}, "a", false},
		{"two runs one after the other", []step{
			run("08:00", "a", "08:00"), run("08:00", "b", "08:00"), seen("08:01", "Forbid", false, "a", "b"), ended("09:20", "a"),
			{"10:30", &events.RunGone{Job: "b"}},
		}, "a b", true},
		{"a run under another policy", []step{run("08:00", "a", "08:00"), seen("08:01", "Allow", false, "a")}, "", false},
		{"the policy is changed while a run goes on", []step{run("08:00", "a", "08:00"), seen("08:01", "Allow", false, "a"), seen("09:30", "Forbid", false, "a")}, "a", false},
		{"a run that has ended and is in the list yet", []step{ended("08:00", "a"), seen("08:01", "Forbid", false, "a")}, "", false},
		{"a Job that was never seen", []step{seen("08:10", "Forbid", false, "a")}, "?a", true},
		{"a Job that was never seen, under another policy", []step{seen("08:10", "Replace", false, "a")}, "", false},
		{"a Job that was never seen, until the list lacks it", []step{
			seen("08:10", "Forbid", false, "a"), seen("09:30", "Forbid", false),
		}, "?a", false},
		{"a Job that is seen behind the list", []step{
			seen("09:30", "Forbid", false, "a"), run("09:31", "a", "09:00"),
		}, "a", true},
		{"a Job that is seen to have ended behind the list", []step{
			seen("08:10", "Forbid", false, "a"), ended("08:11", "a"),
		}, "", false},
		{"a deleted run that is in the list yet", []step{
			run("08:00", "a", "08:00"), {"08:01", &events.RunGone{Job: "a"}}, seen("08:02", "Forbid", false, "a"),
		}, "", false},
		{"a run that is not its own any more", []step{
			run("08:00", "a", "08:00"), seen("08:01", "Forbid", false, "a"), {"09:20", &events.RunGone{Job: "a", Left: true}},
		}, "a ?a", true},
		{"a run until it is suspended", []step{
			run("08:00", "a", "08:00"), seen("08:01", "Forbid", false, "a"), seen("09:20", "Forbid", true, "a"), ended("09:40", "a"),
		}, "a suspended", true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			c := &CronJob{asked: map[events.CommandID]*events.CreateJob{}}
			for i, s := range row.steps {
				r := events.Record{Header: events.Header{Sequence: events.Sequence(i + 1), Time: events.At(moment(s.clock)), Kind: events.KindRunSeen}, Facts: s.facts}
				if err := c.take(&r); err != nil {
					t.Fatal(err)
				}
			}
			all, whole := c.Kept(events.At(moment("09:00")), events.At(moment("10:00")))
			var got []string
			for _, k := range all {
				if k.By == events.HeldSuspended {
					k.Job = "suspended"
				}
				if k.First.Record == 0 || k.Until != 0 && k.Last.Record <= k.First.Record {
					t.Errorf("it cites the records %+v", k)
				}
				if k.Unseen {
					k.Job = "?" + k.Job
				}
				got = append(got, k.Job)
			}
			if text := strings.Join(got, " "); text != row.want || whole != row.whole {
				t.Errorf("kept by %q, all the time: %t; want %q, %t", text, whole, row.want, row.whole)
			}
		})
	}
}
