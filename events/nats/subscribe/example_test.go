package subscribe_test

import (
	"context"
	"fmt"
	"log"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	wire "github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
)

// A durable subscription to the decisions and outcomes of a namespace.
func ExampleRun() {
	url, stop := exampleServer()
	defer stop()

	conn, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	what := subscribe.Config{
		Cluster: "default",
		Filters: []wire.Filter{{Namespace: "batch", Event: "Decided"}, {Namespace: "batch", Event: "JobRetired"}},
		Durable: "accounting",
		Start:   subscribe.All(),
		Tries:   10,
	}
	err = subscribe.Run(ctx, js, what, func(_ context.Context, e *subscribe.Event) error {
		fmt.Println(e.ID.Sequence, e.Subject.Event, e.Job.Name, e.Reasons)
		if e.Subject.Event == "JobRetired" {
			cancel()
		}
		return nil // this event is taken; an error asks for it again, before any other
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3 Decided etl [MorePodsWanted]
	// 5 JobRetired etl []
}

// Messages that came by other ways are checked by their headers.
func ExampleOrder() {
	order := subscribe.NewOrder() // for all events of a cluster
	life := events.Identity{LogID: "5b9e0c1d2f3a44556677889900aabbcc", Epoch: 1}
	for _, sequence := range []events.Sequence{7, 8, 11, 8} {
		found := order.Check(&wire.Head{ID: wire.ID{Log: life, Sequence: sequence}, Floor: 1})
		switch {
		case found.Duplicate:
			fmt.Println(sequence, "came before")
		case found.Gap != (subscribe.Gap{}):
			fmt.Println(sequence, "and", found.Gap)
		default:
			fmt.Println(sequence)
		}
	}
	// Output:
	// 7
	// 8
	// 11 and records 9 to 10 are missing
	// 8 came before
}
