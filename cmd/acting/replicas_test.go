package acting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// replica leads a log with some records, and answers as a replica of it.
func replica(t *testing.T, server *natstest.Server) *boltlog.Log {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	c := replicating.Config{
		Dial: dial.Config{URL: server.URL()}, Stream: replicateStream, Replicas: 1, Unsafe: true, Key: events.Key{7},
		Dir: t.TempDir(), Name: "node-1_1a2b3c4d5e6f7081", Logger: slog.New(slog.DiscardHandler),
	}
	m, err := replicating.Join(ctx, c, replicating.Own{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	log, err := boltlog.Open(c.Dir, m.Options(store.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // that of one that is stopped fails
	if err := m.Begin(ctx, log); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Take(ctx, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- m.Write(running) }()    // ends with stop
	go func() { ended <- m.Exchange(running) }() // likewise
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	w := storetest.NewWriter(t, m.Log(log))
	w.Create()
	w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-a", 2))
	return log
}

// TestVerifyReplicasSaysWhatItFinds, for people within 80 columns but for hashes, and as JSON.
func TestVerifyReplicasSaysWhatItFinds(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	log := replica(t, server)
	says := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		f := NewReplicas(cmd)
		args = append(args, "--replicas", "--replicate", server.URL())
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		if wanted, err := f.Check(cmd.Flags()); !wanted || err != nil {
			t.Fatal(wanted, err)
		}
		c := &cli.CLI{Out: &out, Err: &out, Met: &store.Damage{}, Getenv: func(string) string { return "" }}
		err := f.Verify(t.Context(), c, "")
		return out.String(), err
	}
	text, err := says("--replicate-members", "1")
	head := log.Head()
	for _, want := range []string{
		"stream jobledger-log, incarnation ", "log " + log.Identity().LogID + ", epoch 1, term 1: records 1 to 3\n",
		"replica node-1_1a2b3c4d5e6f7081 (leads): record 3, on the chain\n",
		fmt.Sprintf("verify: 1 log and the stream are on one chain, head 3 %s\n", head.Hash),
	} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("it says, with %v:\n%s\nwant %q", err, text, want)
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 81 && !strings.Contains(line, head.Hash.String()) {
			t.Errorf("a line is too long: %s", line)
		}
	}
	if text, err = says("--replicate-members", "2"); err != nil || !strings.Contains(text, "note: 1 of 2 replicas were heard") {
		t.Errorf("with one replica of two it says, with %v:\n%s", err, text)
	}
	var said struct {
		OneChain bool
		Stream   struct{ Head struct{ Hash string } }
		Replicas []struct {
			Name, Standing string
			Behind         int
		}
		Notes []string
	}
	text, err = says("--replicate-members", "1", "-o", "json")
	if err := errors.Join(err, json.Unmarshal([]byte(text), &said)); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if !said.OneChain || said.Stream.Head.Hash != head.Hash.String() || len(said.Replicas) != 1 ||
		said.Replicas[0].Standing != "on-chain" || said.Notes == nil {
		t.Errorf("it says\n%s", text)
	}
}

// TestVerifyReplicasRefusesWhatDoesNotGoTogether, in words that name the flags.
func TestVerifyReplicasRefusesWhatDoesNotGoTogether(t *testing.T) {
	for args, says := range map[string]string{
		"--replicas": "say where NATS is",
		"--replicas --replicate nats://u:p@a:4222":              "--replicate-creds",
		"--replicas --replicate nats://a --replicate-members 0": "must be from 1 to 9",
		"--replicas --replicate nats://a -o wide":               "must be one of",
		"--replicate nats://a:4222":                             "--replicate goes with --replicas",
		"--replicate-members 2":                                 "--replicate-members goes with --replicas",
		"-o json":                                               "--output goes with --replicas",
	} {
		cmd := &cobra.Command{}
		f := NewReplicas(cmd)
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		var usage *cli.UsageError
		if _, err := f.Check(cmd.Flags()); !errors.As(err, &usage) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", args, err, says)
		}
	}
	cmd := &cobra.Command{}
	if wanted, err := NewReplicas(cmd).Check(cmd.Flags()); wanted || err != nil {
		t.Errorf("without flags: %t, %v", wanted, err)
	}
}
