package projector

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
)

// TestACronJobThatAppearsCostsTheSameAmongManyJobs: at a start all Jobs are listed before the CronJobs.
func TestACronJobThatAppearsCostsTheSameAmongManyJobs(t *testing.T) {
	cost := func(jobs int) time.Duration {
		w, at := NewWorld(), events.Sequence(0)
		put := func(s events.Stream, kind events.Kind, facts events.Facts) {
			at++
			w.Apply(&events.Record{
				Header: events.Header{Sequence: at, Time: 1e18, Stream: s, Kind: kind}, Facts: facts,
				Evidence: events.Evidence{Namespace: "ns", Name: "demo", Owner: "demo"},
			})
		}
		stream := func(i int) events.Stream { return events.CronJobStream(types.UID(fmt.Sprintf("cron-%d", i))) }
		for i := range jobs {
			r := events.RunName{UID: types.UID(fmt.Sprintf("uid-%d", i)), Name: fmt.Sprintf("run-%d", i), Version: 1}
			put(stream(i), events.KindRunSeen, &events.RunSeen{Job: r.UID, Name: r.Name, Version: 1})
		}
		begin := sidebyside.Processor()
		for i := range 500 {
			put(stream(i), events.KindCronJobAdded, &events.CronJobSeen{Version: 2, Schedule: "@daily"})
		}
		return sidebyside.Processor() - begin
	}
	few, many := least(cost, 500), least(cost, 50_000)
	if many > 20*few {
		t.Errorf("500 CronJobs cost %s among 500 Jobs, and %s among 50,000", few, many)
	}
}

// least returns the smallest of three measurements in processor time: other programs use the machine, too.
func least(cost func(int) time.Duration, n int) time.Duration {
	return min(cost(n), cost(n), cost(n))
}
