//go:build unix

package subscribe_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// The test starts its own program again, as a subscriber; these say so, and to what.
const (
	urlVariable  = "JOBLEDGER_SUBSCRIBE_URL"
	fileVariable = "JOBLEDGER_SUBSCRIBE_FILE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(urlVariable); url != "" {
		fmt.Fprintln(os.Stderr, keep(url, os.Getenv(fileVariable)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// keep writes the sequence of each event into a file, until it is killed.
func keep(url, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	conn, err := dial.Config{URL: url}.Connect()
	if err != nil {
		return err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	config := subscribe.Config{Cluster: cluster, Durable: "d", Start: subscribe.All(), MaxPending: 64}
	return subscribe.Run(context.Background(), js, config, func(_ context.Context, e *subscribe.Event) error {
		gap := ""
		if e.Gap != (subscribe.Gap{}) {
			gap = e.Gap.String()
		}
		_, err := fmt.Fprintf(file, "%d %s\n", e.ID.Sequence, gap)
		return err
	})
}

// TestAKilledSubscriberGoesOnWhereAcknowledgementsEnded kills a process with SIGKILL again and again while events come.
// The next one goes on in order, and only events that were not acknowledged come twice.
func TestAKilledSubscriberGoesOnWhereAcknowledgementsEnded(t *testing.T) {
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 6000).Grow(500)
	p := natstest.Publish(t, s, l.Log)
	name := filepath.Join(t.TempDir(), "got")
	lines := func() [][]byte {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		whole := bytes.Split(text, []byte("\n"))
		return whole[:len(whole)-1]
	}
	started := 0
	var ends []int // lines that there were when a process was killed
	for head := 1000; ; head += 500 {
		l.Grow(head)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), urlVariable+"="+s.URL(), fileVariable+"="+name)
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		started++
		before := len(lines())
		last := len(l.Left) == 0
		natstest.Eventually(t, "it takes events", func() error {
			all := lines()
			if !last && len(all) < before+300 {
				return fmt.Errorf("it took %d", len(all)-before)
			}
			var newest events.Sequence
			if len(all) > 0 {
				_, _ = fmt.Sscan(string(all[len(all)-1]), &newest)
			}
			if last && newest < l.Log.Head().Sequence {
				return fmt.Errorf("it is at %d", newest)
			}
			return nil
		})
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
		ends = append(ends, len(lines()))
		if last {
			break
		}
	}
	p.CaughtUp(t)
	var newest events.Sequence
	twice := 0
	for i, line := range lines() {
		var seq events.Sequence
		var gap string
		_, _ = fmt.Sscan(string(line), &seq, &gap)
		switch {
		case gap != "":
			t.Fatalf("line %d: %s", i, line)
		case seq == newest+1:
			newest = seq
		case seq <= newest && slices.Contains(ends, i):
			twice += int(newest - seq + 1)
			newest = seq
		default:
			t.Fatalf("line %d: record %d comes after %d, where nobody was killed", i, seq, newest)
		}
	}
	if newest != l.Log.Head().Sequence {
		t.Errorf("the last is record %d, want %d", newest, l.Log.Head().Sequence)
	}
	t.Logf("%d processes; %d events came twice", started, twice)
}
