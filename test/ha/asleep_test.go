package ha

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/failpoint"
)

// TestALeaderThatSleepsAtAWriteSendsNothingLate: it stands still between the check of its Lease and the request, or
// with a batch on its way to the disk, until another controller leads. Woken, it writes nothing to Jobs and pods any
// more, as the API server's audit log says, and ends.
func TestALeaderThatSleepsAtAWriteSendsNothingLate(t *testing.T) {
	atLength(t)
	for sentence, point := range map[string]string{
		"before it creates a pod":             failpoint.CallBefore + "." + failpoint.CreatePod + ":5",
		"before it writes a status":           failpoint.CallBefore + "." + failpoint.UpdateStatus + ":5",
		"behind an append":                    failpoint.AppendAfter + ":12",
		"when it has learned of the records":  failpoint.DurableBefore + ":12",
		"before it appends how a request was": failpoint.OutcomeBefore + ":5",
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorldOf(t, 2, natstest.NewServers(t, 1), setting{tags: []string{"failpoints"}})
			first, second := w.controllers[0], w.controllers[1]
			if err := first.Start(w.ctx, failpoint.Env+"="+point+":stop"); err != nil {
				t.Fatal(err)
			}
			w.start(second)
			w.create(6, 6)
			err := patience.Until(w.ctx, 20*time.Millisecond, first.Ended(), func() (bool, error) {
				text, err := first.NewestOutput()
				return strings.Contains(text, "failpoint "+point+": stopping process"), err
			})
			if err != nil {
				t.Fatal("it does not come to the point: ", err)
			}
			w.leads(second)
			took := time.Now()
			w.await(6)
			if err := first.Continue(); err != nil {
				t.Fatal(err)
			}
			w.ends(first)
			w.finish()
			w.nothingLate(w.users[0], took)
			w.start(first)
			w.judge()
		})
	}
}

// nothingLate finds what a user has written to Jobs and pods after a time.
func (w *world) nothingLate(user string, since time.Time) {
	w.Helper()
	writes, err := w.cp.Writes()
	before := 0
	for _, one := range writes {
		kind, _, _ := strings.Cut(one.Resource, "/")
		switch {
		case one.User != user || kind != "pods" && kind != "jobs":
		case one.At.After(since):
			err = errors.Join(err, errors.New("late: "+one.Verb+" "+one.Resource+" "+one.Name))
		default:
			before++
		}
	}
	if err != nil || before == 0 {
		w.Errorf("%d writes of it before it slept; %v", before, err)
	}
}
