package subscribe_test

import (
	"context"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/embedded"
)

// exampleServer is a real server with the stream of a short life of a Job.
func exampleServer() (url string, stop func()) {
	dir, err := os.MkdirTemp("", "jobledger-example-")
	check(err)
	secret := filepath.Join(dir, "secret")
	server, err := embedded.Start(embedded.Config{
		Dir: dir, Listen: "127.0.0.1:0", ReaderSecret: secret, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	check(err)
	password, err := os.ReadFile(secret)
	check(err)
	conn, err := natsgo.Connect("", server.Options()...)
	check(err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	check(err)
	_, err = js.CreateStream(context.Background(), jetstream.StreamConfig{Name: "jobledger-default", Subjects: []string{nats.Everything("default")}})
	check(err)
	encoder := nats.Encoder{Cluster: "default"}
	for _, r := range exampleRecords() {
		m, err := encoder.Encode(&r, life, events.JobRef{Namespace: "batch", Name: "etl"}, 1)
		check(err)
		_, err = js.PublishMsg(context.Background(), &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
		check(err)
	}
	_, address, _ := strings.Cut(server.URL(), "://")
	return "nats://" + embedded.Reader + ":" + strings.TrimSpace(string(password)) + "@" + address, func() {
		server.Close()
		check(os.RemoveAll(dir))
	}
}

func exampleRecords() []events.Record {
	records := []events.Record{timer(1, 0, jobA), timer(2, 1, jobA), timer(3, 2, jobA), timer(4, 3, jobA), timer(5, 4, jobA)}
	decided, retired := &records[2], &records[4]
	decided.Kind, decided.Facts = events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{
		{Stage: "pods", Rule: "create", Reason: "MorePodsWanted", Commands: []events.Command{&events.CreatePod{Ordinal: 1, Template: "7e"}}},
	}}
	retired.Kind, retired.Facts = events.KindJobRetired, &events.JobRetired{}
	return records
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
