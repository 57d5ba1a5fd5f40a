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

// TestTheLongestDelayIsTold: of waits and refusals in either order, the longest is the one that an answer names.
func TestTheLongestDelayIsTold(t *testing.T) {
	wait := func(reason string, from, until float64) try.Waiting {
		return waitingFor(reason, "", whentest.Seen(events.Sequence(from), from), whentest.Seen(events.Sequence(until), until))
	}
	refusal := func(kind events.CommandKind, from, until float64) *jobcase.Refusal {
		x := &jobcase.Refusal{Kind: kind, Class: events.RefusedQuota, First: whentest.Seen(events.Sequence(from), from)}
		if until != 0 {
			x.Over = whentest.Seen(events.Sequence(until), until)
		}
		return x
	}
	refusedWith := func(says string) *jobcase.Refusal {
		x := refusal(events.CommandCreatePod, 2, 7)
		x.Says = says
		return x
	}
	create, remove := events.CommandCreatePod, events.CommandDeletePod
	long, short := wait("Unschedulable", 10, 40), wait("ImagePullBackOff", 40, 50)
	for _, row := range []struct {
		name     string
		waits    []try.Waiting
		refusals []*jobcase.Refusal
		says     string
	}{
		{"nothing", nil, nil, ""},
		{"the first wait", []try.Waiting{long, short}, nil, "its pod waited for at least 30s (Unschedulable)"},
		{"the second wait", []try.Waiting{wait("ImagePullBackOff", 10, 20), wait("Unschedulable", 20, 50)}, nil,
			"its pod waited for at least 30s (Unschedulable)"},
		{"a refusal", nil, []*jobcase.Refusal{refusal(create, 2, 7)}, "the API server refused its pods for 5s (Quota)"},
		{"a refusal in words", nil, []*jobcase.Refusal{refusedWith(`pods "p" is forbidden: exceeded quota: "q"`)},
			`the API server refused its pods for 5s (Quota): "exceeded quota: 'q'"`},
		{"an image that is not there", []try.Waiting{waitingFor("ImagePullBackOff",
			`Back-off pulling image "i:1": ErrImagePull: i:1: not found`, whentest.Seen(10, 10), whentest.Seen(20, 20))}, nil,
			`its pod waited for at least 10s (ImagePullBackOff): "…i:1: not found"`},
		{"a registry that says much", []try.Waiting{waitingFor("ImagePullBackOff", `Back-off pulling image "i:1": ErrImagePull: `+
			strings.Repeat("x", 60)+`: 401 Unauthorized`, whentest.Seen(10, 10), whentest.Seen(20, 20))}, nil,
			`its pod waited for at least 10s (ImagePullBackOff): "…` + strings.Repeat("x", 46) + `: 401 Unauthorized"`},
		{"a refusal that is not over", nil, []*jobcase.Refusal{refusal(create, 2, 0)}, ""},
		{"a refusal of something else", nil, []*jobcase.Refusal{refusal(remove, 2, 7)}, ""},
		{"a refusal of less than a second", nil, []*jobcase.Refusal{refusal(create, 2, 2.9)}, ""},
		{"a wait that is longer than the refusal", []try.Waiting{long}, []*jobcase.Refusal{refusal(create, 2, 7)},
			"its pod waited for at least 30s (Unschedulable)"},
		{"a refusal that is longer than the wait", []try.Waiting{short}, []*jobcase.Refusal{refusal(create, 2, 20)},
			"the API server refused its pods for 18s (Quota)"},
		{"the longer of two refusals", nil, []*jobcase.Refusal{refusal(create, 2, 9), refusal(create, 12, 14)},
			"the API server refused its pods for 7s (Quota)"},
	} {
		c := &jobcase.Case{Misses: &explain.Misses{}, Src: &whentest.Log{}, Refusals: row.refusals, Tries: []*try.Try{{
			Pod: "p", Phase: events.PodSucceeded, Seen: whentest.Seen(2, 2), Started: whentest.Seen(60, 60),
			Ended: whentest.Seen(70, 70), Newest: whentest.Seen(70, 70), Waits: row.waits,
		}}}
		c.Job.State, c.Job.AsOf.Time = history.StateComplete, whentest.Recorded(90)
		if text, _ := Delayed(c); text.Cut != row.says {
			t.Errorf("%s: it says %q, want %q", row.name, text, row.says)
		}
	}
}

// TestWhatTheGroupIsRefusedWith: the words of the API server; our own where it sent none.
func TestWhatTheGroupIsRefusedWith(t *testing.T) {
	for _, row := range []struct{ says, own, want string }{
		{"no right", "", "the API server says, asked to create PodGroup: no right"},
		{"no right", "ours", "the API server says, asked to create PodGroup: no right"},
		{"", "ours", "as it is to be scheduled by one: ours"},
		{"", "", "asked to create PodGroup: nothing that the log has"},
	} {
		c := &jobcase.Case{Refusals: []*jobcase.Refusal{{Kind: events.CommandCreatePodGroup, Says: row.says, Own: row.own}}}
		c.Job.Reason = history.NoPodGroup
		if got := heldByGroup(c); len(got) != 1 || !strings.HasSuffix(got[0].Text, row.want) {
			t.Errorf("of %q and %q it says %+v", row.says, row.own, got)
		}
	}
}
