package jobcase

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// TestWhatAPodIsFoundBy: its name, of several the newest, its UID, or how that begins.
func TestWhatAPodIsFoundBy(t *testing.T) {
	a, b, other := &try.Try{Pod: "demo", UID: "abcd-1"}, &try.Try{Pod: "demo", UID: "abce-2"}, &try.Try{Pod: "abcd",
		UID: "x"}
	c := &Case{Tries: []*try.Try{a, b, other}}
	for text, want := range map[string]*try.Try{"demo": b, "abcd-1": a, "abcd-": a, "abce": b, "abc": nil, "x": other,
		"abcd": other, "": nil} {
		if got := c.TryOf(text); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestWhatHadHappenedBefore: what the first version of a Job shows to have happened before it was seen.
func TestWhatHadHappenedBefore(t *testing.T) {
	status := func(change func(*events.JobStatus)) *events.JobSeen {
		s := &events.JobStatus{HasUncounted: true}
		change(s)
		return &events.JobSeen{Generation: 1, Status: s}
	}
	condition := func(kind, is string) *events.JobSeen {
		return status(func(s *events.JobStatus) { s.Conditions = []events.JobCondition{{Type: kind, Status: is}} })
	}
	for i, row := range []struct {
		f    *events.JobSeen
		want string
	}{
		{&events.JobSeen{Generation: 1}, ""},
		{&events.JobSeen{Generation: 2}, "its spec had been changed"},
		{&events.JobSeen{Generation: 2, Deleted: 1}, "it was being deleted"},
		{status(func(*events.JobStatus) {}), ""},
		{status(func(s *events.JobStatus) { s.StartTime = 1 }), "it had begun"},
		{status(func(s *events.JobStatus) { s.Active = 1 }), "it had begun"},
		{status(func(s *events.JobStatus) { s.Terminating = 1 }), "it had begun"},
		{status(func(s *events.JobStatus) { s.Succeeded = 1 }), "it had begun"},
		{status(func(s *events.JobStatus) { s.Failed = 1 }), "it had begun"},
		{status(func(s *events.JobStatus) { s.UncountedFailed = append(s.UncountedFailed, "a") }), "it had begun"},
		{status(func(s *events.JobStatus) { s.UncountedSucceeded = append(s.UncountedSucceeded, "a") }), "it had begun"},
		{condition("Failed", "True"), "it had ended"}, {condition("Complete", "True"), "it had ended"},
		{condition("FailureTarget", "True"), "it had ended"},
		{condition("Failed", "False"), ""}, {condition("Suspended", "True"), ""},
	} {
		if got := begun(row.f); got != row.want {
			t.Errorf("row %d: %q, want %q", i+1, got, row.want)
		}
	}
}
