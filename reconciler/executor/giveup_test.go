package executor

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
)

// endedAPI answers a create when the caller has given it up, or after an hour.
type endedAPI struct {
	wholeapi.Server
	answer func(context.Context) error
}

func (a endedAPI) CreatePod(ctx context.Context, _ *corev1.Pod) (*corev1.Pod, error) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Hour):
	}
	return nil, a.answer(ctx)
}

// TestWhatWeGiveUpIsNoFailureThatUsersHearOf: a stop, or the loss of the Lease, ends a call. Its result has no message
// that could become an Event, and it is never refused. A time-out and an answer of the server are reported as usual.
func TestWhatWeGiveUpIsNoFailureThatUsersHearOf(t *testing.T) {
	errLapsed := errors.New("the Lease was not renewed")
	canceled := func(ctx context.Context) error { return ctx.Err() }
	dialing := func(context.Context) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("operation was canceled")}
	}
	denied := func(context.Context) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "demo", errors.New("exceeded quota: x"))
	}
	stop := func(r *running, _ context.CancelCauseFunc) { r.stop() }
	lapse := func(_ *running, lapse context.CancelCauseFunc) { lapse(errLapsed) }
	wait := func(*running, context.CancelCauseFunc) {}
	rows := []struct {
		sentence string
		end      func(*running, context.CancelCauseFunc)
		answer   func(context.Context) error
		ending   events.Ending
		message  string // what its Message contains; none when empty
		says     string // what its Sentence contains
	}{
		{"a stop does not wait any longer", stop, canceled, events.OutcomeUnknown, "", "the controller stops"},
		{"the Lease is not held any more", lapse, canceled, events.OutcomeUnknown, "", errLapsed.Error()},
		{"a stop, while the connection is made", stop, dialing, events.Withdrawn, "", "the controller stops"},
		{"the Lease, while the connection is made", lapse, dialing, events.Withdrawn, "", errLapsed.Error()},
		{"the server's answer comes with the stop", stop, denied, events.Refused, "exceeded quota", ""},
		{"a time-out", wait, canceled, events.OutcomeUnknown, "deadline exceeded", ""},
		{"no connection can be made", wait, dialing, events.Refused, "dial", ""},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held, lapse := context.WithCancelCause(context.Background())
				defer lapse(nil)
				r := run(t, endedAPI{answer: row.answer}, func(c *Config) {
					c.Within = func(ctx context.Context) (context.Context, context.CancelFunc) {
						ctx, cancel := context.WithCancelCause(ctx)
						stop := context.AfterFunc(held, func() { cancel(context.Cause(held)) })
						return ctx, func() { stop(); cancel(nil) }
					}
				})
				name := r.create("demo", 1)[0]
				synctest.Wait()
				row.end(r, lapse)
				r.idle()
				r.ends()
				got := r.results[name]
				if got.Ended.Ending != row.ending {
					t.Errorf("it ended %+v, want %s", got.Ended, row.ending)
				}
				if said := got.Evidence.Message; (row.message == "") != (said == "") || !strings.Contains(said, row.message) {
					t.Errorf("its message is %q, want one with %q", said, row.message)
				}
				if said := got.Evidence.Sentence; (row.says == "") != (said == "") || !strings.Contains(said, row.says) {
					t.Errorf("its sentence is %q, want one with %q", said, row.says)
				}
			})
		})
	}
}
