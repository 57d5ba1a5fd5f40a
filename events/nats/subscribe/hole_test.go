package subscribe_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

const jobC = "0e8b7a66-5544-4332-a110-ffeeddccbbc0" // nobody asks for it

// TestTheNewestRecordOfAJobThatWasPurgedIsReported: two Jobs are asked for, and the newest record of one was purged
// before it came. No later record names it, and it is reported all the same. Without a purge nothing is reported,
// although places of another Job are passed over.
func TestTheNewestRecordOfAJobThatWasPurgedIsReported(t *testing.T) {
	for _, purged := range []bool{true, false} {
		for _, durable := range []string{"", "d"} {
			t.Run(fmt.Sprintf("purged %t %s", purged, durable), func(t *testing.T) {
				js := makeStream(t, natstest.NewServer(t).Start())
				reached, goOn := make(chan struct{}), make(chan struct{})
				sub := start(t, js, subscribe.Config{
					Durable: durable, MaxPending: 1, Start: subscribe.All(),
					Filters: []nats.Filter{{Name: "job-" + jobA}, {Name: "job-" + jobB}},
				}, func(ctx context.Context, e *subscribe.Event) error {
					if e.ID.Sequence == 4 {
						close(reached)
						<-goOn
					}
					return nil
				})
				put(t, js, life, 1, timer(1, 0, jobA), timer(2, 0, jobB), timer(3, 0, jobC), timer(4, 1, jobA))
				<-reached
				put(t, js, life, 1, timer(5, 4, jobA), timer(6, 2, jobB), timer(7, 3, jobC))
				if purged {
					st, err := js.Stream(t.Context(), stream)
					if err == nil {
						err = st.Purge(t.Context())
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				close(goOn)
				next, previous := events.Sequence(8), events.Sequence(5)
				natstest.Eventually(t, "it tells of record 6, or takes it", func() error {
					put(t, js, life, 1, timer(next, previous, jobA), timer(next+1, next-1, jobC))
					next, previous = next+2, next
					if next < 12 {
						return fmt.Errorf("too few holes")
					}
					for _, e := range sub.events() {
						if e.ID.Sequence == 6 || e.Gap.Stream == (events.Stream{}) && e.Gap.From <= 6 && 6 <= e.Gap.To {
							return nil
						}
					}
					return fmt.Errorf("of %d events none tells of record 6", len(sub.events()))
				})
				if purged {
					return
				}
				for _, e := range sub.await(6) {
					if e.Gap != (subscribe.Gap{}) {
						t.Errorf("before record %d it reports: %s", e.ID.Sequence, e.Gap)
					}
				}
			})
		}
	}
}
