package mirror

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/reader"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// controllers are some that give a log, behind one client each.
type controllers struct {
	t       *testing.T
	clients []*feed.Client

	mu    sync.Mutex
	gone  bool
	asked map[string]int // requests, by path and query
}

// add runs one.
func (c *controllers) add(config feed.Config, log store.Shared) {
	giver := feed.NewGiver(config)
	giver.Open(log)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		gone := c.gone
		c.asked[r.URL.RequestURI()]++
		c.mu.Unlock()
		if gone {
			panic(http.ErrAbortHandler) // the connection is closed
		}
		giver.ServeHTTP(w, r)
	}))
	c.t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	client, err := feed.NewClient(server.URL, pool, func() (string, error) { return "t", nil })
	if err != nil {
		c.t.Fatal(err)
	}
	c.clients = append(c.clients, client)
}

func (c *controllers) set(gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = gone
}

func (c *controllers) requests(uri string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[uri]
}

func newControllers(t *testing.T) *controllers { return &controllers{t: t, asked: map[string]int{}} }

// clock is one of this machine that a test moves.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

// mirrorOf makes a mirror in a directory.
func mirrorOf(t *testing.T, c *controllers, at *clock, dir string) *Mirror {
	t.Helper()
	m, err := New(Config{Dir: dir, Clients: c.clients, Where: "controllers", Clock: at.time,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *Mirror) mustRound(t *testing.T) {
	t.Helper()
	if err := m.round(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// opened is what a request gets, and what it is told.
func opened(t *testing.T, m *Mirror) (history.Source, string, error) {
	t.Helper()
	var notes []string
	o, err := m.Open(t.Context(), &store.Damage{}, func(text string) { notes = append(notes, text) })
	return o.Source, strings.Join(notes, "\n"), err
}

// written is a log in small files.
func written(t *testing.T) (log *boltlog.Log, w *storetest.Writer) {
	t.Helper()
	log, err := boltlog.Open(t.TempDir(), store.Options{RotateBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // it is read
	w = storetest.NewWriter(t, log)
	w.Create()
	more(w, 20)
	return log, w
}

func more(w *storetest.Writer, batches int) {
	for n := range batches {
		w.Durable(storetest.Pod("job-a", n), storetest.Text("job-b", 4000))
	}
}

// same compares a copy with the log: its files, and each record as it is stored.
func same(t *testing.T, when string, m *Mirror, log *boltlog.Log) {
	t.Helper()
	if m.kept == nil {
		t.Fatalf("%s: there is no copy", when)
	}
	copied := m.kept.log
	if copied.Head() != log.Head() || copied.Identity() != log.Identity() {
		t.Errorf("%s: the copy ends with %+v of %s, the log with %+v of %s",
			when, copied.Head(), copied.Identity(), log.Head(), log.Identity())
	}
	firsts := func(l *boltlog.Log) (out []events.Sequence) {
		files, err := l.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			out = append(out, f.First)
		}
		return out
	}
	if got, want := firsts(copied), firsts(log); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: the files of the copy begin with %d, those of the log with %d", when, got, want)
	}
	if got, want := stored(t, copied), stored(t, log); !bytes.Equal(got, want) {
		t.Errorf("%s: the copy has other records", when)
	}
}

func stored(t *testing.T, log store.Reader) (out []byte) {
	t.Helper()
	for r, err := range log.Read(t.Context(), 0) {
		if err == nil {
			out, err = events.AppendRecord(out, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestTheCopyGoesOn: through new records and files, files that go, and a restart, after which nothing is read twice.
func TestTheCopyGoesOn(t *testing.T) {
	log, w := written(t)
	c := newControllers(t)
	c.add(feed.Config{}, log)
	at, place := &clock{time.Unix(1e9, 0)}, t.TempDir()
	m := mirrorOf(t, c, at, place)
	if _, _, err := opened(t, m); err == nil {
		t.Error("there is an answer before there is a copy")
	}
	m.mustRound(t)
	same(t, "begun", m, log)
	for range 5 {
		more(w, 7)
		m.mustRound(t)
		same(t, "with more records", m, log)
	}
	keep, err := log.Prunable(log.Head().Sequence / 2)
	if err != nil || keep <= 1 {
		t.Fatalf("prunable: %d, %v", keep, err)
	}
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: keep}})
	if _, err := log.Prune(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	m.mustRound(t)
	same(t, "without the oldest files", m, log)
	if err := m.close(); err != nil {
		t.Fatal(err)
	}
	more(w, 3)
	m = mirrorOf(t, c, at, place)
	m.mustRound(t)
	more(w, 30)
	m.mustRound(t)
	same(t, "after a restart", m, log)
	if n := c.requests(feed.RecordsPath); n != 1 {
		t.Errorf("the log was read from its beginning %d times", n)
	}
	if _, err := os.Stat(filepath.Join(place, folder, "KEY")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy has a secret: %v", err)
	}
}

// TestACopyOfAPrunedLog begins where the log does.
func TestACopyOfAPrunedLog(t *testing.T) {
	log, w := written(t)
	more(w, 30)
	keep, err := log.Prunable(log.Head().Sequence / 2)
	if err != nil || keep <= 1 {
		t.Fatalf("prunable: %d, %v", keep, err)
	}
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: keep}})
	if _, err := log.Prune(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	c := newControllers(t)
	c.add(feed.Config{}, log)
	m := mirrorOf(t, c, &clock{time.Unix(1e9, 0)}, t.TempDir())
	m.mustRound(t)
	same(t, "begun", m, log)
	if m.kept.log.First() != keep {
		t.Errorf("the copy begins with record %d, and not %d", m.kept.log.First(), keep)
	}
	more(w, 30)
	m.mustRound(t)
	same(t, "gone on", m, log)
}

// TestAnswersAreThoseOfTheLog: of a recorded incident, whose files have states: the copy's lists and records are the
// log's.
func TestAnswersAreThoseOfTheLog(t *testing.T) {
	for _, incident := range []string{"delegated", "cronjobs-run"} {
		dir := t.TempDir()
		recorded := filepath.Join("..", "..", "..", "examples", "incidents", incident, "log")
		if err := os.CopyFS(dir, os.DirFS(recorded)); err != nil {
			t.Fatal(err)
		}
		log, err := boltlog.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() }) // it is read
		c := newControllers(t)
		c.add(feed.Config{}, log)
		m := mirrorOf(t, c, &clock{time.Unix(1e9, 0)}, t.TempDir())
		m.mustRound(t)
		copied, _, err := opened(t, m)
		if err != nil {
			t.Fatal(err)
		}
		local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log, Files: log.Files})}
		for _, q := range []history.JobsQuery{{}, {Limit: 2}} {
			want, err := local.Jobs(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := copied.Jobs(t.Context(), q)
			if err != nil || !reflect.DeepEqual(got.Items, want.Items) {
				t.Errorf("%s: the Jobs of the copy are others: %v", incident, err)
			}
		}
		if !bytes.Equal(stored(t, m.kept.log), stored(t, log)) {
			t.Errorf("%s: the copy has other records", incident)
		}
	}
}

// TestAnotherHistory: the log of a controller that leads is what counts, also where it is another one, or ends earlier.
// One that does not lead never costs the copy.
func TestAnotherHistory(t *testing.T) {
	log, w := written(t)
	other, _ := written(t)
	leads := true
	lead := func() bool { return leads }
	c := newControllers(t)
	c.add(feed.Config{Leads: lead}, log)
	at, place := &clock{time.Unix(1e9, 0)}, t.TempDir()
	m := mirrorOf(t, c, at, place)
	m.mustRound(t)
	same(t, "begun", m, log)

	second := newControllers(t)
	second.add(feed.Config{Leads: lead}, other)
	m.config.Clients = second.clients
	leads = false
	m.mustRound(t)
	same(t, "beside another log that nobody leads", m, log)
	if _, note, err := opened(t, m); err != nil || !strings.Contains(note, "has not answered since") {
		t.Errorf("the answer says %q: %v", note, err)
	}
	leads = true
	m.mustRound(t)
	if _, _, err := opened(t, m); err == nil {
		t.Error("the other log leads, and an answer is of the copy of before")
	}
	m.mustRound(t)
	same(t, "of the log that leads", m, other)

	m.config.Clients = c.clients // and back, while it is behind what the copy of it had
	m.mustRound(t)
	m.mustRound(t)
	same(t, "of the first log again", m, log)
	more(w, 2)
	m.mustRound(t)
	same(t, "which goes on", m, log)
}

// TestACopyThatIsNotWhole: one that a crash left half made, and one that is damaged, are begun again.
func TestACopyThatIsNotWhole(t *testing.T) {
	log, _ := written(t)
	c := newControllers(t)
	c.add(feed.Config{}, log)
	for _, row := range []struct {
		name  string
		spoil func(t *testing.T, copied string)
	}{
		{"half made", func(t *testing.T, copied string) {
			if err := boltlog.BeginRestore(copied, "x"); err != nil {
				t.Fatal(err)
			}
		}},
		{"a file is torn", func(t *testing.T, copied string) {
			firsts, err := boltlog.Firsts(copied)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(copied, boltlog.FileName(firsts[len(firsts)-1])), 5000); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			place, at := t.TempDir(), &clock{time.Unix(1e9, 0)}
			m := mirrorOf(t, c, at, place)
			m.mustRound(t)
			if err := m.close(); err != nil {
				t.Fatal(err)
			}
			row.spoil(t, m.dir)
			m = mirrorOf(t, c, at, place)
			m.mustRound(t)
			same(t, "begun again", m, log)
		})
	}
}

// TestNobodyAnswers: answers go on, as of when a controller answered last, and say since when and up to which record.
// When one is back they are of now again.
func TestNobodyAnswers(t *testing.T) {
	log, w := written(t)
	theirs := events.At(time.Date(2026, 5, 6, 7, 0, 0, 0, time.UTC))
	leads := true
	c := newControllers(t)
	c.add(feed.Config{Name: "pod-0", Now: func() events.Time { return theirs }, Leads: func() bool { return leads }}, log)
	at := &clock{time.Date(2026, 5, 6, 8, 0, 0, 0, time.UTC)} // another time zone's clock, by mistake
	m := mirrorOf(t, c, at, t.TempDir())

	c.set(true)
	m.mustRound(t)
	var away *reader.AwayError
	if _, _, err := opened(t, m); !errors.As(err, &away) || away.HTTPStatus() != http.StatusServiceUnavailable {
		t.Errorf("before one ever answered: %v", err)
	}
	c.set(false)
	m.mustRound(t)
	now := func() events.Time {
		t.Helper()
		src, _, err := opened(t, m)
		if err != nil {
			t.Fatal(err)
		}
		at, err := src.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if _, note, _ := opened(t, m); note != "" {
		t.Errorf("while one answers: %q", note)
	}
	at.now = at.now.Add(3 * time.Second)
	if got := now(); got != theirs.Add(3*time.Second) {
		t.Errorf("3 s after it answered it is %d", got)
	}
	at.now = at.now.Add(2 * time.Second) // no round came: it may hang
	if _, note, _ := opened(t, m); !strings.Contains(note, "no answer within 4s") || now() != theirs {
		t.Errorf("5 s after it answered: %q, as of %d", note, now())
	}
	c.set(true)
	m.mustRound(t)
	more(w, 1)
	at.now = at.now.Add(time.Hour)
	_, note, err := opened(t, m)
	for _, want := range []string{"the controller at controllers has not answered since 2026-05-06 08:00:00Z",
		"the newest record that is known is 41 of "} {
		if err != nil || !strings.Contains(note, want) {
			t.Errorf("an hour later: %v, %q, want %q", err, note, want)
		}
	}
	if now() != theirs {
		t.Errorf("an hour later it is %d: the past is shown as now", now())
	}
	c.set(false)
	leads, theirs = false, theirs.Add(time.Hour)
	m.mustRound(t)
	_, note, _ = opened(t, m)
	if !strings.Contains(note, "the one with the newest record, pod-0 at 127.0.0.1:") || now() != theirs {
		t.Errorf("when it is back, without its Lease: %q", note)
	}
	same(t, "when it is back", m, log)
}

// TestWhoIsAsked: who leads, then who has our log, then who has the newest record.
func TestWhoIsAsked(t *testing.T) {
	one := func(address, logID string, leads bool, n events.Sequence) answered {
		return answered{address: address, head: feed.Head{LogID: logID, Leads: leads, Sequence: n}}
	}
	for _, row := range []struct {
		says string
		all  []answered
		want string
	}{
		{"one leads, and is behind", []answered{one("a", "L", false, 9), one("b", "L", true, 5)}, "b"},
		{"none leads", []answered{one("a", "L", false, 5), one("b", "L", false, 9)}, "b"},
		{"two are as far", []answered{one("b", "L", false, 9), one("a", "L", false, 9)}, "a"},
		{"another log is further", []answered{one("a", "M", false, 9), one("b", "L", false, 5)}, "b"},
		{"the leader has another log", []answered{one("a", "M", true, 1), one("b", "L", false, 5)}, "a"},
		{"two lead, of two logs", []answered{one("a", "M", true, 9), one("b", "L", true, 5)}, "b"},
	} {
		if got := best(row.all, "L"); got.address != row.want {
			t.Errorf("%s: %s is asked, and not %s", row.says, got.address, row.want)
		}
	}
}
