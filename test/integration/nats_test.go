package integration

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	natsd "github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestWithNATSDownFromTheStartJobsRunAsWithoutIt runs the same Job without NATS and with NATS down: the API server gets
// the same writes. Then NATS starts, and gets every record.
func TestWithNATSDownFromTheStartJobsRunAsWithoutIt(t *testing.T) {
	w := newWorld(t)
	run := func(c *controller.Controller, name string) map[string]int {
		w.start(c)
		w.create(newJob(name, indexed, completions(5), parallelism(5)))
		j := w.ends(name, result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 5, completed: "0-4"})
		written := w.written(func(x controlplane.Write) bool { return strings.HasPrefix(x.Name, name) })
		delete(written, "update jobs/status") // progress may be written in one write or several
		w.delete(name)
		w.gone(j)
		return written
	}
	without := w.newController("")
	want := run(without, "apart")
	w.stop(without)

	port := natstest.FreePort(t)
	c := w.newController("", "--adopt", "--cluster", "it", "--nats-url", fmt.Sprintf("nats://127.0.0.1:%d", port))
	if got := run(c, "beside"); !maps.Equal(got, want) {
		t.Errorf("with NATS down it wrote %v, and without NATS %v", got, want)
	}
	if says := readyz(t, c); !strings.Contains(says, "[~]nats degraded: ") {
		t.Errorf("readyz does not say that NATS is away:\n%s", says)
	}

	s, err := natsd.NewServer(&natsd.Options{
		Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 1 << 30,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	w.eventually("all follows", func() (bool, error) { return strings.Contains(readyz(t, c), "[+]nats ok"), nil })
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for place, e := range read(t, s.ClientURL(), nats.Everything("it"), int(head)) {
		if uint64(e.ID.Sequence) != uint64(place)+1 {
			t.Fatalf("message %d is record %d", place+1, e.ID.Sequence)
		}
	}
	retired := nats.Filter{Cluster: "it", Namespace: w.namespace, Kind: nats.KindJob, Name: "beside", Event: "JobRetired"}
	read(t, s.ClientURL(), retired.String(), 1)
}

// readyz returns the controller's detailed readiness.
func readyz(t *testing.T, c *controller.Controller) string {
	t.Helper()
	response, err := http.Get(c.URL + "/readyz?verbose")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("readyz: %s, %v\n%s", response.Status, err, text)
	}
	return string(text)
}

// read reads n messages from the stream.
func read(t *testing.T, url, filter string, n int) (all []nats.Event) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	conn, err := natsgo.Connect(url, natsgo.Timeout(patience.Time()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(ctx, "jobledger-it", jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Stop()
	for len(all) < n {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", len(all), n, err)
		}
		e, err := nats.Decode(&nats.Message{Subject: m.Subject(), Header: m.Headers(), Data: m.Data()})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
