package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	logstream "github.com/jobledger/jobledger/store/natslog/stream"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// replicates is what doctor finds with a replicated log.
func replicates(t *testing.T, r Replicate) []Finding {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	return replicatedLog(ctx, &Config{Replicate: r})
}

// at is a replication on a server, whose stream one server may hold.
func at(s *natstest.Server, change ...func(*replicating.Config)) Replicate {
	c := &replicating.Config{Dial: dial.Config{URL: s.URL()}, Stream: "log", Unsafe: true}
	for _, f := range change {
		f(c)
	}
	return Replicate{Config: c, Synced: true}
}

// goodLog is the stream of a log as it should be on one server.
func goodLog() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "log", Subjects: []string{logstream.Subject("log")}, Storage: jetstream.FileStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, DenyDelete: true,
		Metadata: map[string]string{"jobledger.dev/log-id": "6f", "jobledger.dev/incarnation": "1a"},
	}
}

// problems returns the texts of the problems that were found.
func problems(found []Finding) (all []string) {
	for _, f := range found {
		if f.Level == Problem {
			all = append(all, f.Text)
		}
	}
	return all
}

// TestEachWrongSettingOfALogsStreamIsFound on a real server, which has each of them. Some settings bring another wrong
// one with them.
func TestEachWrongSettingOfALogsStreamIsFound(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	js := server.JetStream()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "other", Subjects: []string{"other"}}); err != nil {
		t.Fatal(err)
	}
	if found := replicates(t, at(server)); len(problems(found)) > 0 {
		t.Errorf("without a stream it finds %+v", found)
	}
	made := func(c jetstream.StreamConfig) {
		t.Helper()
		if err := js.DeleteStream(ctx, "log"); err != nil && !strings.Contains(err.Error(), "not found") {
			t.Fatal(err)
		}
		if _, err := js.CreateStream(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	made(goodLog())
	if found := replicates(t, at(server)); len(problems(found)) > 0 {
		t.Errorf("of a good stream it finds %+v", found)
	}
	for says, change := range map[string]func(*jetstream.StreamConfig){
		"its storage is":       func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"persist_mode":         func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
		"its retention is":     func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
		"its discard is":       func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"max_msgs is":          func(c *jetstream.StreamConfig) { c.MaxMsgs = 9 },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 9 },
		"deny_delete":          func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"allow_rollup":         func(c *jetstream.StreamConfig) { c.AllowRollup = true },
		"allow_direct":         func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		"message TTLs":         func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true },
		"counters":             func(c *jetstream.StreamConfig) { c.AllowMsgCounter, c.Discard = true, jetstream.DiscardOld },
		"schedules":            func(c *jetstream.StreamConfig) { c.AllowMsgSchedules, c.Discard = true, jetstream.DiscardOld },
		"batches":              func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = true },
		"sources":              func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "other"}} },
		"a mirror": func(c *jetstream.StreamConfig) {
			c.Mirror, c.Subjects, c.Discard = &jetstream.StreamSource{Name: "other"}, nil, jetstream.DiscardOld
		},
		"subject transform": func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: c.Subjects[0], Destination: "elsewhere"}
		},
		"no_ack":       func(c *jetstream.StreamConfig) { c.NoAck = true },
		"its subjects": func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "second") },
		"its metadata": func(c *jetstream.StreamConfig) { c.Metadata = nil },
	} {
		c := goodLog()
		change(&c)
		made(c)
		if found := problems(replicates(t, at(server))); !strings.Contains(strings.Join(found, "\n"), says) {
			t.Errorf("%s: it finds %q", says, found)
		}
	}
	made(goodLog())
	sealed := goodLog()
	sealed.Sealed = true
	if _, err := js.UpdateStream(ctx, sealed); err != nil {
		t.Fatal(err)
	}
	if found := problems(replicates(t, at(server))); !strings.Contains(strings.Join(found, "\n"), "it is sealed") {
		t.Errorf("of a sealed stream it finds %q", found)
	}
	made(goodLog())
	safe := at(server, func(c *replicating.Config) { c.Unsafe = false })
	if found := problems(replicates(t, safe)); len(found) != 1 || !strings.Contains(found[0], "num_replicas") {
		t.Errorf("of a stream on one server it finds %q", found)
	}
	if err := js.DeleteStream(ctx, "log"); err != nil {
		t.Fatal(err)
	}
	if found := problems(replicates(t, safe)); len(found) != 1 || !strings.Contains(found[0], "in no cluster") {
		t.Errorf("where the stream could not be made it finds %q", found)
	}
}

// TestAServersDiskIsLookedAt at its monitoring address, which may have a certificate of one's own.
func TestAServersDiskIsLookedAt(t *testing.T) {
	lazy := natstest.NewServer(t, func(o *natsd.Options) { o.HTTPHost, o.HTTPPort, o.ServerName = "127.0.0.1", -1, "nats-0" }).Start()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	if _, err := lazy.JetStream().CreateStream(ctx, goodLog()); err != nil {
		t.Fatal(err)
	}
	monitor := func(address, ca string) func(*replicating.Config) {
		return func(c *replicating.Config) { c.Monitor, c.Dial.CA = []string{address}, ca }
	}
	says := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) })
	}
	const synced = `{"server_name":"nats-0","version":"%s","jetstream":{"config":{"sync_always":true}}}`
	old := httptest.NewServer(says(fmt.Sprintf(synced, "2.14.4")))
	t.Cleanup(old.Close)
	secret := httptest.NewTLSServer(says(fmt.Sprintf(synced, "2.15.2")))
	t.Cleanup(secret.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	writeCertificate(t, ca, secret.Certificate())
	sealed := natstest.NewServer(t, func(o *natsd.Options) {
		o.TLS, o.TLSTimeout, o.TLSConfig = true, 5, &tls.Config{Certificates: secret.TLS.Certificates}
		o.ServerName = "nats-0"
	}).Start()
	if _, err := sealed.JetStream(nats.RootCAs(ca)).CreateStream(ctx, goodLog()); err != nil {
		t.Fatal(err)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, row := range []struct {
		sentence    string
		on          *natstest.Server
		address, ca string
		level       Level
		says        string
	}{
		{"a server that does not sync", lazy, "http://" + lazy.Run.MonitorAddr().String(), "", Problem, "server nats-0 does not sync"},
		{"a server that is too old", lazy, old.URL, "", Problem, "nats-server 2.14.4"},
		{"one with a certificate of one's own", sealed, secret.URL, ca, OK, "stream log/1a is held by nats-0"},
		{"one whose certificate nobody knows", lazy, secret.URL, "", Unknown, "certificate"},
		{"an address that does not answer", lazy, gone.URL, "", Unknown, "is not known"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			found := replicates(t, at(row.on, monitor(row.address, row.ca)))
			for _, f := range found {
				if f.Level == row.level && strings.Contains(f.Text, row.says) {
					return
				}
			}
			t.Errorf("it finds %+v, want %s: %s", found, row.level, row.says)
		})
	}
	believed := replicates(t, at(lazy))
	unknown := at(lazy)
	unknown.Synced = false
	if believed[0].Level != Note || replicates(t, unknown)[0].Level != Warning {
		t.Errorf("without monitoring addresses it finds %+v", believed)
	}
}

// TestServersThatCannotHoldALog: they do not answer, have no JetStream, or have the stream of another log.
func TestServersThatCannotHoldALog(t *testing.T) {
	finds := func(r Replicate, says string) {
		t.Helper()
		if found := problems(replicates(t, r)); len(found) != 1 || !strings.Contains(found[0], says) {
			t.Errorf("it finds %q, want %q", found, says)
		}
	}
	plain := natstest.NewServer(t, func(o *natsd.Options) { o.JetStream = false }).Start()
	finds(at(plain), "JetStream does not answer")
	server := natstest.NewServer(t, natstest.Inside).Start()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	c := replicating.Config{
		Dial: dial.Config{URL: server.URL()}, Stream: "log", Replicas: 1, Unsafe: true, Dir: t.TempDir(), Logger: discard,
	}
	begun(ctx, t, c)
	r := Replicate{Config: &c, Synced: true}
	if found := problems(replicates(t, r)); len(found) > 0 {
		t.Errorf("of its own stream it finds %q", found)
	}
	js := server.JetStream()
	if err := js.DeleteStream(ctx, "log"); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, goodLog()); err != nil {
		t.Fatal(err)
	}
	finds(r, "it is incarnation 1a of log 6f, and REPLICA in "+c.Dir)
	server.Stop()
	finds(at(server), "cannot be looked at")
}

// begun makes the directory of c a replica of its stream.
func begun(ctx context.Context, t *testing.T, c replicating.Config) {
	t.Helper()
	m, err := replicating.Join(ctx, c, replicating.Own{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	log, err := boltlog.Open(c.Dir, m.Options(store.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Begin(ctx, log), log.Close()); err != nil {
		t.Fatal(err)
	}
}

var discard = slog.New(slog.DiscardHandler)

func writeCertificate(t *testing.T, path string, c *x509.Certificate) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
