package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestARunEndsWhenTheServerHasOtherGangs: the API server is asked each minute, and at once when a request met that its
// API is not served, but not more often than each 5 s; the run goes on while the server has the same objects, or none.
func TestARunEndsWhenTheServerHasOtherGangs(t *testing.T) {
	const all, shape = events.GangsOfRoots, events.GangsByShape
	for _, row := range []struct {
		sentence     string
		before       events.GangRule
		answers      []events.GangRule // the last one stands; none: nothing is served
		met          time.Duration     // when requests begin to meet that it is not served; 0 for never
		ends, within time.Duration     // 0: it goes on
		asked        int               // within the time
		says         string
	}{
		{sentence: "nothing changes", before: all, answers: []events.GangRule{all}, within: 10*time.Minute + time.Second, asked: 10},
		{
			sentence: "an upgrade is met by the next request", before: shape, answers: []events.GangRule{shape, all}, met: 90 * time.Second, ends: 90*time.Second + 100*time.Millisecond,
			within: time.Hour, asked: 2, says: "gangs of scheduling.k8s.io/v1beta1 now, and this run makes those of scheduling.k8s.io/v1alpha2",
		},
		{sentence: "an upgrade without a request", before: shape, answers: []events.GangRule{shape, all}, ends: 2 * time.Minute, within: time.Hour, asked: 2},
		{sentence: "a step back", before: all, answers: []events.GangRule{shape}, ends: time.Minute, within: time.Hour, asked: 1},
		{sentence: "the API is off, and each held Job meets it", before: all, met: time.Second, within: 61 * time.Second, asked: 12},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), row.within)
				defer cancel()
				unserved, begin, asked := make(chan struct{}, 1), time.Now(), 0
				if row.met > 0 {
					time.AfterFunc(row.met, func() {
						every(ctx, 100*time.Millisecond, func(context.Context) {
							select {
							case unserved <- struct{}{}:
							default:
							}
						})
					})
				}
				err := otherGangs(ctx, row.before, unserved, func() (events.GangRule, bool) {
					asked++
					if len(row.answers) == 0 {
						return 0, false
					}
					return row.answers[min(asked, len(row.answers))-1], true
				})
				var other *OtherGangsError
				ended := errors.As(err, &other)
				if ended != (row.ends > 0) || ended && time.Since(begin) != row.ends {
					t.Errorf("ended with %v after %s, want after %s", err, time.Since(begin), row.ends)
				}
				if ended && !strings.Contains(err.Error(), row.says) {
					t.Errorf("it says %q, without %q", err, row.says)
				}
				if asked != row.asked {
					t.Errorf("asked %d times, want %d", asked, row.asked)
				}
			})
		})
	}
}
