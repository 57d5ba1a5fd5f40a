package compare

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

// TestWhatBefellAJob: how its first try failed; if its deadline passed, also what its pods waited for until then, and
// why none could be created. Each is named once.
func TestWhatBefellAJob(t *testing.T) {
	exited := func(record events.Sequence, code int32, says string) *try.Try {
		return &try.Try{
			Pod: "p", Index: events.NoIndex, Phase: events.PodFailed, Seen: whentest.Seen(2, 2), Ended: whentest.Seen(record,
				float64(record)),
			Containers: []events.ContainerEnd{whentest.Exit("main", code,
				func(k *events.ContainerEnd) { k.Message, k.Finished = says, whentest.Sec(3) })},
		}
	}
	waits := func(reason string) *try.Try {
		return &try.Try{Pod: "w", Index: events.NoIndex, Seen: whentest.Seen(3, 3), Newest: whentest.Seen(4, 4),
			Waits: []try.Waiting{{Reason: reason, From: whentest.Seen(4, 4)}}}
	}
	refusal := func(record events.Sequence, kind events.CommandKind, class events.RefusalClass) *jobcase.Refusal {
		return &jobcase.Refusal{Kind: kind, Class: class, First: whentest.Seen(record, float64(record))}
	}
	const create = events.CommandCreatePod
	deadline := &jobcase.Settling{Reason: "DeadlineExceeded", Failure: true, Decided: whentest.Seen(50, 50)}
	for _, row := range []struct {
		name     string
		tries    []*try.Try
		refusals []*jobcase.Refusal
		settled  *jobcase.Settling
		want     string
	}{
		{"nothing", nil, nil, nil, ""},
		{"an exit", []*try.Try{exited(9, 3, "")}, nil, nil, "main exit 3 (own)"},
		{"an exit with words", []*try.Try{exited(9, 3, "7 of demo lost")}, nil, nil, "main exit 3 (own, # of * lost)"},
		{"two exits: the first that ended", []*try.Try{exited(11, 4, ""), exited(9, 3, "")}, nil, nil, "main exit 3 (own)"},
		{"a wait that no deadline ended", []*try.Try{waits("ImagePullBackOff")}, nil, nil, ""},
		{"a wait to the deadline", []*try.Try{waits("ErrImagePull")}, nil, deadline, "ImagePullBackOff"},
		{"two alike", []*try.Try{waits("ErrImagePull"), waits("ErrImagePull")}, nil, deadline, "ImagePullBackOff"},
		{"one that ends by itself", []*try.Try{waits("ContainerCreating")}, nil, deadline, ""},
		{"refused", nil, []*jobcase.Refusal{refusal(49, create, events.RefusedQuota)}, deadline, "pods refused (Quota)"},
		{"refused since then", nil, []*jobcase.Refusal{refusal(50, create, events.RefusedQuota),
			refusal(51, create, events.RefusedQuota)}, deadline, ""},
		{"a status refused", nil, []*jobcase.Refusal{refusal(49, events.CommandWriteStatus, events.RefusedQuota)}, deadline,
			""},
		{"refused without a deadline", nil, []*jobcase.Refusal{refusal(49, create, events.RefusedQuota)}, nil, ""},
		{"all of it", []*try.Try{exited(9, 3, ""), waits("ImagePullBackOff")},
			[]*jobcase.Refusal{refusal(20, create, events.RefusedQuota),
				refusal(21, create, events.RefusedQuota), refusal(22, create, events.RefusedForbidden)}, deadline,
			"main exit 3 (own) + ImagePullBackOff + pods refused (Quota) + pods refused (Forbidden)"},
	} {
		c := &Jobs{Case: &jobcase.Case{Misses: &explain.Misses{}, Src: &whentest.Log{}, Tries: row.tries,
			Refusals: row.refusals, Settled: row.settled,
			Reigns: []jobcase.Reign{{From: whentest.Seen(1, 1), Hands: jobcase.OurHands}}}}
		c.Job.Name, c.Job.State = "demo", history.StateFailed
		var got []string
		for _, l := range c.befell() {
			text := l.text
			if l.own {
				text += strings.TrimSuffix(" (own, "+l.says, ", ") + ")"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " + "); text != row.want {
			t.Errorf("%s: %q, want %q", row.name, text, row.want)
		}
	}
}
