package ending

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestWhatATryCountsAs: the tries of a Job that has ended come to what its status counts, where it is known which.
func TestWhatATryCountsAs(t *testing.T) {
	verdict := &jobcase.Settling{Failure: true, Seen: whentest.Seen(20, 20), Stored: whentest.Seen(20, 20),
		Over: whentest.Seen(21, 21)}
	failed := func(record events.Sequence, as try.Counted) *try.Try {
		return &try.Try{Phase: events.PodFailed, Ended: whentest.Seen(record, float64(record)), Counted: as,
			Containers: []events.ContainerEnd{whentest.Exit("main", 1, nil)}}
	}
	by := func(x *try.Try, who try.By) *try.Try {
		x.Judged = &try.Ending{By: who}
		return x
	}
	left := func(x *try.Try) *try.Try {
		x.Moved, x.Gone = true, whentest.Seen(7, 7)
		return x
	}
	uncounted := func(x *try.Try) *try.Try {
		x.Uncounted = whentest.Seen(7, 7)
		return x
	}
	const is, not, unknown = try.CountedFailed, try.CountedNot, try.CountedUnknown
	for _, row := range []struct {
		name  string
		want  int
		tries []*try.Try
		as    []try.Counted
	}{
		{"as counted", 1, []*try.Try{failed(5, is)}, []try.Counted{is}},
		{"one more than known, and one is open", 1, []*try.Try{failed(5, not)}, []try.Counted{is}},
		{"one more than known, and two are open before the verdict", 1, []*try.Try{failed(5, not), failed(6, not)},
			[]try.Counted{unknown, unknown}},
		{"one more than known, and one of the open ended behind the verdict", 1, []*try.Try{failed(5, not), failed(22, not)},
			[]try.Counted{is, not}},
		{"one more than known, and one of the open was stopped by us", 1, []*try.Try{failed(5, not), by(failed(6, not),
			try.ByUs)}, []try.Counted{is, not}},
		{"by its controller", 1, []*try.Try{failed(5, not), by(failed(6, not), try.ByController)}, []try.Counted{is, not}},
		{"by the Job's deletion", 1, []*try.Try{failed(5, not), by(failed(6, not), try.ByJobDeleted)}, []try.Counted{is,
			not}},
		{"by a client", 1, []*try.Try{failed(5, not), by(failed(6, not), try.ByClient)}, []try.Counted{unknown, unknown}},
		{"all that are open", 2, []*try.Try{failed(5, not), failed(22, not)}, []try.Counted{is, is}},
		{"none is open", 2, []*try.Try{failed(5, is)}, []try.Counted{is}},
		{"one that went on elsewhere", 1, []*try.Try{{Moved: true, Gone: whentest.Seen(5, 5)}}, []try.Counted{not}},
		{"one that left after its end", 1, []*try.Try{left(failed(5, not))}, []try.Counted{is}},
		{"one that lost its finalizer", 1, []*try.Try{uncounted(failed(5, not))}, []try.Counted{is}},
		{"one that left, and an open one", 1, []*try.Try{left(failed(5, not)), failed(6, not)}, []try.Counted{not, is}},
		{"two that left", 1, []*try.Try{left(failed(5, not)), uncounted(failed(6, not))}, []try.Counted{unknown, unknown}},
		{"one that goes on", 1, []*try.Try{{}}, []try.Counted{not}},
		{"one that succeeded", 1, []*try.Try{{Phase: events.PodSucceeded, Ended: whentest.Seen(5, 5)}}, []try.Counted{not}},
		{"one less than known, and one ended behind the verdict", 1, []*try.Try{failed(5, is), failed(22, is)},
			[]try.Counted{is, not}},
		{"one less than known, and two ended behind the verdict", 2, []*try.Try{failed(5, is), failed(22, is), failed(23,
			is)}, []try.Counted{is, unknown, unknown}},
		{"one less than known, and none ended behind the verdict", 1, []*try.Try{failed(5, is), failed(6, is)},
			[]try.Counted{is, is}},
		{"none is counted", 0, []*try.Try{failed(5, is), failed(6, is)}, []try.Counted{not, not}},
		{"with the verdict", 0, []*try.Try{failed(20, is)}, []try.Counted{not}},
	} {
		c := &jobcase.Case{Tries: row.tries, Settled: verdict}
		agree(c, try.CountedFailed, row.want, func(x *try.Try) bool { return x.Phase != events.PodSucceeded })
		var got []try.Counted
		for _, x := range row.tries {
			if got = append(got, x.Counted); x.Counted == try.CountedUnknown && x.CountAt != verdict.Over {
				t.Errorf("%s: unknown since %v", row.name, x.CountAt)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(row.as) {
			t.Errorf("%s: %q, want %q", row.name, got, row.as)
		}
	}
	for _, row := range []struct {
		s        *jobcase.Settling
		record   events.Sequence
		want     bool
		end, has explain.Mark
	}{
		{nil, 30, false, explain.Mark{}, explain.Mark{}},
		{&jobcase.Settling{}, 30, false, explain.Mark{}, explain.Mark{}},
		{&jobcase.Settling{Seen: whentest.Seen(20, 20)}, 19, false, whentest.Seen(20, 20), whentest.Seen(20, 20)},
		{&jobcase.Settling{Seen: whentest.Seen(20, 20)}, 20, true, whentest.Seen(20, 20), whentest.Seen(20, 20)},
		{&jobcase.Settling{Decided: whentest.Seen(18, 18), Seen: whentest.Seen(20, 20)}, 18, true, whentest.Seen(20, 20),
			whentest.Seen(20, 20)},
		{&jobcase.Settling{Decided: whentest.Seen(18, 18), Stored: whentest.Seen(19, 19), Over: whentest.Seen(21, 21)}, 17,
			false, whentest.Seen(21, 21), whentest.Seen(19, 19)},
	} {
		c := &jobcase.Case{Settled: row.s}
		if got := c.AfterVerdict(failed(row.record, not)); got != row.want || c.Conclusion() != row.end {
			t.Errorf("%+v, %d: behind the verdict: %t, which is shown by %v", row.s, row.record, got, c.Conclusion())
		}
		if row.s != nil && row.s.StoredBy() != row.has {
			t.Errorf("%+v is stored by %v", row.s, row.s.StoredBy())
		}
	}
}

// TestLivingPods: those that were there at a record, had not ended, and were not asked to.
func TestLivingPods(t *testing.T) {
	c := &jobcase.Case{Tries: []*try.Try{
		{Seen: whentest.Seen(1, 1)},
		{Seen: whentest.Seen(10, 1)},
		{Seen: whentest.Seen(11, 1)},
		{Seen: whentest.Seen(1, 1), Ended: whentest.Seen(9, 1)},
		{Seen: whentest.Seen(1, 1), Ended: whentest.Seen(10, 1)},
		{Seen: whentest.Seen(1, 1), AskedSeen: whentest.Seen(9, 1)},
		{Seen: whentest.Seen(1, 1), AskedSeen: whentest.Seen(10, 1)},
		{Seen: whentest.Seen(1, 1), Gone: whentest.Seen(9, 1)},
	}}
	if n := living(c, whentest.Seen(10, 10)); n != 4 {
		t.Errorf("%d live", n)
	}
}

// TestOneFailureTooMany: whether a Job that failed had failures enough without the pod whose deletion is seen.
func TestOneFailureTooMany(t *testing.T) {
	failed := func(record events.Sequence) *try.Try {
		return &try.Try{Phase: events.PodFailed, Ended: whentest.Seen(record, 1)}
	}
	restarted := &try.Try{Phase: events.PodRunning, Restarts: 1}
	for _, row := range []struct {
		name   string
		reason string
		limit  *int32
		tries  []*try.Try
		want   bool
	}{
		{"without it none", "BackoffLimitExceeded", new(int32(0)), nil, true},
		{"without it enough", "BackoffLimitExceeded", new(int32(0)), []*try.Try{failed(9)}, false},
		{"with what fails with it", "BackoffLimitExceeded", new(int32(0)), []*try.Try{failed(10)}, true},
		{"as many as are allowed", "BackoffLimitExceeded", new(int32(1)), []*try.Try{failed(9)}, true},
		{"with restarts", "BackoffLimitExceeded", new(int32(1)), []*try.Try{failed(9), restarted}, false},
		{"for another reason", "DeadlineExceeded", new(int32(0)), nil, false},
		{"without a limit", "BackoffLimitExceeded", nil, nil, false},
	} {
		c := &jobcase.Case{Settled: &jobcase.Settling{Reason: row.reason}, Spec: &events.JobSpec{BackoffLimit: row.limit},
			Tries: row.tries}
		if got := oneTooMany(c, whentest.Seen(10, 10)); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	if oneTooMany((&jobcase.Case{Settled: &jobcase.Settling{Reason: "BackoffLimitExceeded"}}), whentest.Seen(1, 1)) {
		t.Error("without a spec")
	}
}

// TestWhyWeDeleteAPod: in words for each reason.
func TestWhyWeDeleteAPod(t *testing.T) {
	whentest.Texts(t, [][2]string{
		{reasonWords("JobFailing"), "the Job fails, so its pods are deleted"}, {reasonWords("JobSuspended"),
			"the Job was suspended"},
		{reasonWords("FewerPodsWanted"), "fewer pods were wanted"}, {reasonWords("DuplicateIndex"),
			"another pod had its index"},
		{reasonWords("JobSucceeded"), "the Job had succeeded without it"}, {reasonWords("FinalizerGone"),
			"it was one too many"}, {reasonWords("Odd"), "Odd"},
	})
}
