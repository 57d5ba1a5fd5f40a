package stuck

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// waitingFor is a wait of a pod from a record on, to another one.
func waitingFor(reason, says string, from, until explain.Mark) try.Waiting {
	return try.Waiting{Reason: reason, Message: says, From: from, Said: from, Until: until}
}

// TestWhatHeldUpAtADeadline: the pods that waited then, where none ran: with a word with which nothing goes on, or for
// long.
func TestWhatHeldUpAtADeadline(t *testing.T) {
	at := whentest.Seen(20, 60)
	waits := func(reason, says string, from, until explain.Mark) *try.Try {
		return &try.Try{Pod: reason, Seen: whentest.Seen(1, 1), Waits: []try.Waiting{waitingFor(reason, says, from, until)}}
	}
	runs := &try.Try{Seen: whentest.Seen(1, 1), Started: whentest.Seen(3, 3)}
	for _, row := range []struct {
		name  string
		tries []*try.Try
		want  int
	}{
		{"none", nil, 0},
		{"one, stuck", []*try.Try{waits("ImagePullBackOff", "m", whentest.Seen(5, 59), explain.Mark{})}, 1},
		{"one, whose wait ends with it", []*try.Try{waits("ImagePullBackOff", "m", whentest.Seen(5, 59), whentest.Seen(20,
			60))}, 1},
		{"one, whose wait was over", []*try.Try{waits("ImagePullBackOff", "m", whentest.Seen(5, 59), whentest.Seen(19, 60))},
			0},
		{"one, whose wait begins then", []*try.Try{waits("ImagePullBackOff", "m", whentest.Seen(20, 60), explain.Mark{})}, 0},
		{"one, for 5 s", []*try.Try{waits("ContainerCreating", "", whentest.Seen(5, 55), explain.Mark{})}, 1},
		{"one, for less", []*try.Try{waits("ContainerCreating", "", whentest.Seen(5, 55.1), explain.Mark{})}, 0},
		{"two alike", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}), waits("ErrImagePull", "m",
			whentest.Seen(6, 59), explain.Mark{})}, 2},
		{"two with other words", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}),
			waits("ErrImagePull", "n", whentest.Seen(6, 59), explain.Mark{})}, 1},
		{"two with other reasons", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}),
			waits("Unschedulable", "m", whentest.Seen(6, 59), explain.Mark{})}, 1},
		{"beside one that runs", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}), runs}, 0},
		{"beside one that had ended", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}),
			{Seen: whentest.Seen(1, 1), Started: whentest.Seen(3, 3), Ended: whentest.Seen(19, 59)}}, 1},
		{"beside one that ends with it", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}),
			{Seen: whentest.Seen(1, 1), Started: whentest.Seen(3, 3), Ended: whentest.Seen(20, 60)}}, 0},
		{"beside one that starts then", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}),
			{Seen: whentest.Seen(1, 1), Started: whentest.Seen(20, 60)}}, 1},
		{"beside one that came later", []*try.Try{waits("ErrImagePull", "m", whentest.Seen(5, 59), explain.Mark{}),
			{Seen: whentest.Seen(20, 60), Started: whentest.Seen(21, 61)}}, 1},
		{"it had gone", []*try.Try{{Seen: whentest.Seen(1, 1), Gone: whentest.Seen(19, 59),
			Waits: []try.Waiting{waitingFor("ErrImagePull", "m", whentest.Seen(5, 5), explain.Mark{})}}}, 0},
		{"it goes with it", []*try.Try{{Seen: whentest.Seen(1, 1), Gone: whentest.Seen(20, 60),
			Waits: []try.Waiting{waitingFor("ErrImagePull", "m", whentest.Seen(5, 5), explain.Mark{})}}}, 1},
	} {
		c := &jobcase.Case{Tries: row.tries}
		if got := HeldAt(c, at); len(got) != row.want {
			t.Errorf("%s: %d held up", row.name, len(got))
		}
	}
}

// TestWhichPastWaitsAreTold: of a pod that never started those that took long; of another one those with which nothing
// goes on, before its start.
func TestWhichPastWaitsAreTold(t *testing.T) {
	for _, row := range []struct {
		name   string
		try    try.Try
		reason string
		from   explain.Mark
		until  explain.Mark
		want   bool
	}{
		{"stuck before it started", try.Try{Started: whentest.Seen(9, 20)}, "Unschedulable", whentest.Seen(3, 3),
			whentest.Seen(9, 20), true},
		{"stuck behind its start", try.Try{Started: whentest.Seen(9, 20)}, "CrashLoopBackOff", whentest.Seen(10, 21),
			whentest.Seen(12, 30), false},
		{"with a word that passes", try.Try{Started: whentest.Seen(9, 20)}, "ContainerCreating", whentest.Seen(3, 3),
			whentest.Seen(9, 20), false},
		{"it never started, and was there for 5 s", try.Try{Seen: whentest.Seen(2, 2)}, "ContainerCreating", whentest.Seen(3,
			3), whentest.Seen(9, 7), true},
		{"it never started, and was there for less", try.Try{Seen: whentest.Seen(2, 2)}, "ContainerCreating", whentest.Seen(3,
			3), whentest.Seen(9, 6.9), false},
		{"it never started, and was stuck", try.Try{Seen: whentest.Seen(2, 2)}, "Unschedulable", whentest.Seen(3, 3),
			whentest.Seen(9, 4), true},
		{"for no time", try.Try{Seen: whentest.Seen(2, 2)}, "Unschedulable", whentest.Seen(3, 3), whentest.Seen(4, 3), false},
		{"as its node clears up", try.Try{Seen: whentest.Seen(2, 2), AskedSeen: whentest.Seen(3, 3)}, "ContainerCreating",
			whentest.Seen(3, 3), whentest.Seen(9, 20), false},
		{"before it is asked to go", try.Try{Seen: whentest.Seen(2, 2), AskedSeen: whentest.Seen(4, 4)}, "ContainerCreating",
			whentest.Seen(3, 3), whentest.Seen(9, 20), true},
		{"to the end", try.Try{Seen: whentest.Seen(2, 2)}, "Unschedulable", whentest.Seen(3, 3), explain.Mark{}, true},
	} {
		c := &jobcase.Case{Settled: &jobcase.Settling{Over: whentest.Seen(30, 50), Stored: whentest.Seen(29, 49)}}
		c.Job.State = history.StateFailed
		w := waitingFor(row.reason, "", row.from, row.until)
		past, told := asPast(c, &row.try, &w)
		if told != row.want {
			t.Errorf("%s: told: %t", row.name, told)
		}
		if want := (explain.Mark{Record: 29, At: whentest.Sec(50)}); row.until.Record == 0 && past.until != want {
			t.Errorf("%s: until %v", row.name, past.until)
		}
	}
}

// TestUntilWhenAWaitIsTold: to its end, which may be that of the Job, and not behind what the verdict says of it: the
// deadline, or the deletion of a Job that had not ended. The wait began with record 10 in second 10.
func TestUntilWhenAWaitIsTold(t *testing.T) {
	complete, failed := history.StateComplete, history.StateFailed
	for _, row := range []struct {
		name    string
		state   history.State
		settled *jobcase.Settling
		gone    explain.Mark
		until   explain.Mark // of the wait
		want    explain.Mark
	}{
		{"it ended", complete, &jobcase.Settling{Stored: whentest.Seen(40, 40), Over: whentest.Seen(41, 41)}, explain.Mark{},
			whentest.Seen(20, 20), whentest.Seen(20, 20)},
		{"to the Job's end", complete, &jobcase.Settling{Stored: whentest.Seen(40, 40), Over: whentest.Seen(41, 41)},
			explain.Mark{},
			explain.Mark{}, explain.Mark{Record: 40, At: whentest.Sec(41)}},
		{"to the Job's end, and it was deleted since", complete,
			&jobcase.Settling{Stored: whentest.Seen(40, 40), Over: whentest.Seen(41, 41)},
			whentest.Seen(60, 60), explain.Mark{}, explain.Mark{Record: 40, At: whentest.Sec(41)}},
		{"to the Job's deletion", history.StateDeleted, nil, whentest.Seen(60, 60), explain.Mark{}, whentest.Seen(60, 60)},
		{"to the Job's deletion, as it was about to end", history.StateDeleted,
			&jobcase.Settling{Stored: whentest.Seen(40, 40), Seen: whentest.Seen(40, 40)}, whentest.Seen(60,
				60), explain.Mark{}, whentest.Seen(60, 60)},
		{"behind the Job's deletion", history.StateDeleted, nil, whentest.Seen(60, 60), whentest.Seen(61, 61),
			whentest.Seen(60, 60)},
		{"with the Job's deletion", history.StateDeleted, nil, whentest.Seen(60, 60), whentest.Seen(60, 60),
			whentest.Seen(60, 60)},
		{"before the Job's deletion", history.StateDeleted, nil, whentest.Seen(60, 60), whentest.Seen(59, 59),
			whentest.Seen(59, 59)},
		{"behind its deadline", failed, &jobcase.Settling{Reason: "DeadlineExceeded", Decided: whentest.Seen(30, 30),
			Stored: whentest.Seen(40, 40)},
			explain.Mark{}, whentest.Seen(31, 31), whentest.Seen(30, 30)},
		{"to its deadline", failed, &jobcase.Settling{Reason: "DeadlineExceeded", Decided: whentest.Seen(30, 30),
			Stored: whentest.Seen(40, 40)},
			explain.Mark{}, explain.Mark{}, whentest.Seen(30, 30)},
		{"before its deadline", failed, &jobcase.Settling{Reason: "DeadlineExceeded", Decided: whentest.Seen(30, 30),
			Stored: whentest.Seen(40, 40)},
			explain.Mark{}, whentest.Seen(29, 29), whentest.Seen(29, 29)},
		{"it began behind the deadline", failed, &jobcase.Settling{Reason: "DeadlineExceeded",
			Decided: whentest.Seen(10, 10), Stored: whentest.Seen(40, 40)},
			explain.Mark{}, whentest.Seen(31, 31), whentest.Seen(31, 31)},
		{"of another failure", failed, &jobcase.Settling{Reason: "BackoffLimitExceeded", Decided: whentest.Seen(30, 30),
			Stored: whentest.Seen(40, 40)},
			explain.Mark{}, whentest.Seen(31, 31), whentest.Seen(31, 31)},
	} {
		c := &jobcase.Case{Settled: row.settled, Gone: row.gone}
		c.Job.State = row.state
		w := waitingFor("Unschedulable", "", whentest.Seen(10, 10), row.until)
		past, told := asPast(c, &try.Try{Seen: whentest.Seen(9, 9)}, &w)
		if past.until != row.want || !told {
			t.Errorf("%s: until %+v, %t, want %+v", row.name, past.until, told, row.want)
		}
	}
}

// TestWhatAPodWaitsForNow: whether nothing goes on by itself, since when, and what is missing to know more.
func TestWhatAPodWaitsForNow(t *testing.T) {
	c := &jobcase.Case{Misses: &explain.Misses{}}
	c.Job.AsOf.Time = whentest.Recorded(1000)
	for _, row := range []struct {
		reason  string
		from    float64
		stuck   bool
		missing string
	}{
		{"Unschedulable", 999, true, ""}, {"RunContainerError", 999, true, ""}, {"Odd", 1, false, ""}, {"ContainerCreating",
			700, true, "a volume, a Secret"},
		{"ContainerCreating", 701, false, ""}, {"PodInitializing", 100, true, "which of its init containers"},
		{"PodInitializing", 101, false, "which of its init containers"},
	} {
		w := waitingFor(row.reason, "", whentest.Seen(3, row.from), explain.Mark{})
		if got := tooLong(c, &w); got != row.stuck || !strings.Contains(unsaid(c, &w), row.missing) || (unsaid(c,
			&w) != "") != (row.missing != "") {
			t.Errorf("%s since %v: stuck: %t%s", row.reason, row.from, got, unsaid(c, &w))
		}
	}
	for _, row := range []struct {
		sandbox events.Sandbox
		from    float64
		want    string
	}{
		{events.SandboxNone, 990, "volumes are mounted before"}, {events.SandboxNone, 991, ""},
		{events.SandboxReady, 990, "images are pulled"}, {events.SandboxReady, 991, ""},
		{events.SandboxNoAddress, 100, ""}, {events.SandboxOther, 100, ""},
	} {
		w := waitingFor("ContainerCreating", "", whentest.Seen(3, row.from), explain.Mark{})
		w.Sandbox = row.sandbox
		if got := unsaid(c, &w); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("sandbox %d since %v: %q", row.sandbox, row.from, got)
		}
	}
	pull := func(reasons ...string) *try.Try {
		x := &try.Try{}
		for i, reason := range reasons {
			x.Waits = append(x.Waits, waitingFor(reason, "", whentest.Seen(events.Sequence(i+3), 1),
				whentest.Seen(events.Sequence(i+4), 1)))
		}
		return x
	}
	apart := pull("ErrImagePull", "ImagePullBackOff")
	apart.Waits[0].Until = whentest.Seen(3, 1)
	crashed := pull("CrashLoopBackOff")
	crashed.CrashedAt = whentest.Seen(2, 1)
	for i, row := range []struct {
		try  *try.Try
		want events.Sequence
	}{
		{pull("ErrImagePull"), 3}, {pull("ErrImagePull", "ImagePullBackOff", "ErrImagePull"), 3}, {pull("ContainerCreating",
			"ErrImagePull"), 4},
		{pull("ErrImagePull", "ContainerCreating", "ErrImagePull"), 5}, {apart, 4}, {crashed, 2},
	} {
		if got := row.try.StuckFrom(); got.Record != row.want {
			t.Errorf("row %d: since %d, want %d", i+1, got.Record, row.want)
		}
	}
}

// TestWhenAPodHangs: more than 30 s behind the time that it was given.
func TestWhenAPodHangs(t *testing.T) {
	hang := &jobcase.Case{Tries: []*try.Try{{AskedSeen: whentest.Seen(5, 10), Asked: whentest.Sec(10),
		Grace: new(int64(20))}}}
	for end, want := range map[float64]int{60: 0, 60.1: 1, 100: 1} {
		if hang.Job.AsOf.Time = whentest.Recorded(end); len(hanging(hang)) != want {
			t.Errorf("as of %v %d hang", end, len(hanging(hang)))
		}
	}
}

// TestWordsForWaits: of one pod and of several; and the server's words with single quotes.
func TestWordsForWaits(t *testing.T) {
	pods := []*try.Try{{Pod: "a", Node: "n1"}, {Pod: "b"}, {Pod: "c"}}
	whentest.Texts(t, [][2]string{
		{podsOf(pods[:1]), "its pod"}, {podsOf(pods[:2]), "2 pods"},
		{hangWord(pods[:1]), "a on n1 does not stop"}, {hangWord(pods), "a on n1 and 2 other pods do not stop"},
		{hangWord(pods[1:2]), "b does not stop"},
		{within(nil), ""}, {within([]string{"a", "b"}), " (a, b)"},
		{theirWords("").Cut, ""}, {theirWords(` say "x" `).Cut, `: "say 'x'"`},
	})
}
