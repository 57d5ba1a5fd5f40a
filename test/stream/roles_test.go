package stream

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sync/errgroup"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// The test starts its own binary in other roles; environment variables select and configure the role.
const (
	roleVariable = "JOBLEDGER_STREAM_ROLE"
	portVariable = "JOBLEDGER_STREAM_PORT"
	dirVariable  = "JOBLEDGER_STREAM_DIR" // of the server's store, or of the log
	// enoughVariable names a file. The publisher writes the last tenth only once it exists. Empty: it writes
	// everything.
	enoughVariable = "JOBLEDGER_STREAM_ENOUGH"
	fromVariable   = "JOBLEDGER_STREAM_SOURCE" // the log with the records that the publisher writes into its own
	paceVariable   = "JOBLEDGER_STREAM_PACE"   // records a second
	fileVariable   = "JOBLEDGER_STREAM_FILE"   // the file in which a subscriber keeps what it got
	pickVariable   = "JOBLEDGER_STREAM_FILTER" // its filter
	nameVariable   = "JOBLEDGER_STREAM_NAME"   // its durable name
)

const (
	cluster = "chaos"
	name    = "jobledger-chaos" // of the stream
)

func TestMain(m *testing.M) {
	role := map[string]func(context.Context) error{
		"server": server, "publisher": publisher, "client": client, "durable": durable, "package": after,
	}[os.Getenv(roleVariable)]
	if role == nil {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := role(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func url() string { return "nats://127.0.0.1:" + os.Getenv(portVariable) }

// server runs a NATS server.
func server(ctx context.Context) error {
	port, err := strconv.Atoi(os.Getenv(portVariable))
	if err != nil {
		return err
	}
	s, err := natsd.NewServer(&natsd.Options{
		ServerName: "chaos", Host: "127.0.0.1", Port: port, NoSigs: true, JetStream: true, StoreDir: os.Getenv(dirVariable),
		JetStreamMaxStore: 8 << 30, JetStreamMaxMemory: 256 << 20,
	})
	if err != nil {
		return err
	}
	s.Start()
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// publisher writes the records of another log into its own log, at a certain pace, and publishes it meanwhile. It ends
// when everything is published.
func publisher(ctx context.Context) error {
	log, err := boltlog.Open(os.Getenv(dirVariable), store.Options{})
	if err != nil {
		return err
	}
	defer log.Close()
	p, err := publish.New(publish.Config{Log: log, Cluster: cluster, Dial: dial.Config{URL: url()}, Retry: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.Run(ctx) })
	group.Go(func() error {
		defer stop()
		if err := write(ctx, log); err != nil {
			return err
		}
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for p.CatchUp(ctx) != nil { // the server may be away
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// isEnough reports whether the last tenth may be written.
func isEnough() bool {
	file := os.Getenv(enoughVariable)
	if file == "" {
		return true
	}
	_, err := os.Stat(file)
	return err == nil
}

// write appends the records of the other log that the log does not have yet.
func write(ctx context.Context, log *boltlog.Log) error {
	pace, err := strconv.Atoi(os.Getenv(paceVariable))
	if err != nil {
		return err
	}
	from, err := boltlog.OpenReadOnly(os.Getenv(fromVariable))
	if err != nil {
		return err
	}
	defer from.Close()
	const step = 10 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	var b events.Batch
	written := 0
	held := from.Head().Sequence * 9 / 10
	for r, err := range from.Read(ctx, log.Head().Sequence+1) {
		if err != nil {
			return err
		}
		for r.Sequence > held && !isEnough() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if created, ok := r.Facts.(*events.LogCreated); ok {
			mine := *created
			mine.LogID = log.Identity().LogID
			r.Facts = &mine
		}
		if b.Records = append(b.Records, r); !r.Last {
			continue
		}
		if err := log.Room(1 << 20); err != nil {
			return err
		}
		commit := log.Append(b, true)
		<-commit.Done()
		if err := commit.Err(); err != nil {
			return err
		}
		written += len(b.Records)
		b = events.Batch{}
		for ; written > 0; written -= pace * int(step) / int(time.Second) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}
