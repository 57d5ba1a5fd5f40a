package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/events/nats/embedded"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// streamlog publishes a log on a NATS server of its own until the script ends, as a controller does, and returns when
// all of it is in the stream: streamlog DIR. With "streamlog DIR without FROM TO", the stream lost these records; with
// "spoilt" their data cannot be read, and a message of somebody else is before them. NATS_URL, NATS_USER and
// NATS_PASSWORD are set to where the server answers, and to whom; the context reader.json says the same. RECORDS is set
// to how many records there are.
func streamlog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || (len(args) != 1 && len(args) != 4) {
		ts.Fatalf("usage: streamlog DIR [without|spoilt FROM TO]")
	}
	dir := ts.MkAbs(args[0])
	log, err := boltlog.Open(dir, store.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(log.Close()) })
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	server, err := embedded.Start(embedded.Config{
		Dir: filepath.Join(dir, "nats"), Listen: "127.0.0.1:0", Logger: quiet, ReaderSecret: filepath.Join(dir, controller.ReaderFile),
	})
	ts.Check(err)
	ts.Defer(server.Close)
	secret, err := os.ReadFile(filepath.Join(dir, controller.ReaderFile))
	ts.Check(err)
	file, err := json.Marshal(map[string]string{"url": server.URL(), "user": embedded.Reader, "password": strings.TrimSpace(string(secret))})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("reader.json"), file, 0o600))
	ts.Setenv("NATS_URL", server.URL())
	ts.Setenv("NATS_USER", embedded.Reader)
	ts.Setenv("NATS_PASSWORD", strings.TrimSpace(string(secret)))
	ts.Setenv("RECORDS", strconv.FormatUint(uint64(log.Head().Sequence), 10))
	ts.Check(os.WriteFile(filepath.Join(dir, controller.NATSFile), []byte(server.URL()+"\n"), 0o600))
	if len(args) > 1 {
		from, err1 := strconv.Atoi(args[2])
		to, err2 := strconv.Atoi(args[3])
		ts.Check(err1)
		ts.Check(err2)
		streamParts(ts, server, log, events.Sequence(from), events.Sequence(to), args[1] == "spoilt")
		return
	}
	p, err := publish.New(publish.Config{
		Log: log, Cluster: "default", Dial: dial.Config{URL: server.URL()}, Options: server.Options(), Logger: quiet,
	})
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }() // ends with the script
	ts.Defer(func() {
		cancel()
		ts.Check(<-ended)
	})
	poll(ts, "the publisher", func() bool { return p.Status().Lag == 0 && p.Status().Problem == "" })
}

// streamParts writes a log to the stream without some records, as if it had lost them, or with unreadable ones.
func streamParts(ts *testscript.TestScript, server *embedded.Server, log *boltlog.Log, from, to events.Sequence, spoilt bool) {
	conn, err := natsgo.Connect(server.URL(), append(server.Options(), natsgo.Timeout(time.Minute))...)
	ts.Check(err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	ts.Check(err)
	ctx, cancel := patience.Context(context.Background())
	defer cancel()
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "jobledger-default", Subjects: []string{nats.Everything("default")}, AllowDirect: true})
	ts.Check(err)
	encoder := nats.Encoder{Cluster: "default"}
	for r, err := range log.Read(ctx, 0) {
		ts.Check(err)
		bad := from <= r.Sequence && r.Sequence <= to
		if bad && !spoilt {
			continue
		}
		m, err := encoder.Encode(&r, log.Identity(), events.JobRef{Namespace: "default", Name: "demo"}, 1)
		ts.Check(err)
		if bad {
			m.Data = []byte("spoilt")
		}
		if bad && r.Sequence == from {
			_, err = js.Publish(ctx, m.Subject, []byte("not ours"))
			ts.Check(err)
		}
		_, err = js.PublishMsg(ctx, &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
		ts.Check(err)
	}
}
