package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
)

// TestReadersThatMeanHarmDoNotHarmJobs: readers with the secret send every request that they can, and others open
// endless connections to the ports. Meanwhile a Job runs to its end, the controller is ready, and all records are
// published.
func TestReadersThatMeanHarmDoNotHarmJobs(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	c := w.newController("", "--nats-embedded", "--nats-listen=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0")
	w.start(c)
	address := w.metricsAddress(c.Output)
	w.create(newJob("before"))
	w.finishes("before")
	secret, err := os.ReadFile(filepath.Join(c.Log(), "NATS.reader"))
	if err != nil {
		t.Fatal(err)
	}
	url, err := os.ReadFile(filepath.Join(c.Log(), "NATS"))
	if err != nil {
		t.Fatal(err)
	}
	server := strings.TrimSpace(string(url))
	stop := make(chan struct{})
	var hostile sync.WaitGroup
	open := make([][]net.Conn, 2)
	t.Cleanup(func() {
		for _, conn := range slices.Concat(open...) {
			conn.Close()
		}
	})
	t.Cleanup(hostile.Wait) // before the world ends
	t.Cleanup(sync.OnceFunc(func() { close(stop) }))
	do := func(harm func(i int)) {
		hostile.Go(func() { // ends with stop
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					harm(i)
				}
			}
		})
	}
	var floods []func(int) // begun when all are connected: they keep each other out
	for range 3 {
		conn, err := natsgo.Connect(server, natsgo.UserInfo("reader", strings.TrimSpace(string(secret))), natsgo.MaxReconnects(-1), natsgo.Timeout(patience.Time()),
			natsgo.ErrorHandler(func(*natsgo.Conn, *natsgo.Subscription, error) {}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		js, err := jetstream.New(conn)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.SubscribeSync("_INBOX.never"); err != nil { // read
			t.Fatal(err)
		}
		consumer, err := js.CreateConsumer(t.Context(), "jobledger-default", jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
		if err != nil {
			t.Fatal(err)
		}
		next := "$JS.API.CONSUMER.MSG.NEXT.jobledger-default." + consumer.CachedInfo().Name
		subjects := []string{next, "$JS.API.INFO", "$JS.API.STREAM.INFO.jobledger-default", "$JS.API.STREAM.DELETE.jobledger-default", "$JS.ACK.jobledger-default.d.1.1.1.1.1"}
		floods = append(floods, func(i int) {
			reply := []string{"_INBOX.never", "jobledger.v1.default.x.job.x.Decided"}[i/len(subjects)%2]
			_ = conn.PublishRequest(subjects[i%len(subjects)], reply, []byte(`{"batch":10000,"expires":60000000000,"idle_heartbeat":500000000}`))
		})
	}
	for _, flood := range floods {
		do(flood)
	}
	_, metrics, _ := strings.Cut(address, "://")
	_, nats, _ := strings.Cut(server, "://")
	for p, port := range []string{metrics, nats} {
		do(func(int) {
			conn, err := net.Dial("tcp", port)
			if err != nil {
				return
			}
			fmt.Fprint(conn, "GET /readyz HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
			if open[p] = append(open[p], conn); len(open[p]) > 600 {
				open[p][0].Close()
				open[p] = open[p][1:]
			}
		})
	}
	w.create(newJob("meanwhile", indexed, completions(10), parallelism(5)))
	w.finishes("meanwhile")
	w.eventually("the stream follows", func() (bool, error) { return strings.Contains(readyz(t, c), "[+]nats ok"), nil })
}
