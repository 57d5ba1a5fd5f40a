package following

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/store"
)

// endsAt is a log of which only the end is known.
type endsAt struct {
	Log
	head events.Sequence
}

func (l endsAt) Head() store.Head { return store.Head{Sequence: l.head} }

// scraped is what a scrape shows, by metric and, where it has one, replica. Two series with the same labels are an error.
func scraped(t *testing.T, s *Standby) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(s)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), "jobledger_replication_")
		for _, m := range family.GetMetric() {
			of := name
			for _, label := range m.GetLabel() {
				if label.GetName() == "replica" {
					of += " " + label.GetValue()
				}
			}
			all[of] = m.GetGauge().GetValue()
		}
	}
	return all
}

// TestNoBranchesWithoutADirectory: a scrape before there is a log shows that it has no branch.
func TestNoBranchesWithoutADirectory(t *testing.T) {
	s := New(Config{Log: filepath.Join(t.TempDir(), "none"), Self: "b_2", Leads: func() bool { return false }})
	if all := scraped(t, s); all["branches"] != 0 || all["branch_bytes"] != 0 {
		t.Errorf("shown is %v", all)
	}
}

// TestMetrics: what a scrape shows of a standby, of one whose leader is gone, and of a leader.
func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	branch := filepath.Join(dir, "branch-1-7")
	if err := os.Mkdir(branch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(branch, "records"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		leads, followers := false, []feed.Follower(nil)
		s := New(Config{
			Log: dir, Self: "b_2", Logger: slog.New(slog.DiscardHandler),
			Leads: func() bool { return leads }, Followers: func() []feed.Follower { return followers },
		})
		shows := func(sentence string, want map[string]float64) {
			t.Helper()
			want["branches"], want["branch_bytes"] = 1, 5
			got := scraped(t, s)
			if math.IsNaN(got["behind_seconds"]) {
				got["behind_seconds"] = -1
			}
			if fmt.Sprint(got) != fmt.Sprint(want) { // in the order of their names
				t.Errorf("%s: shown is\n%v, want\n%v", sentence, got, want)
			}
		}
		shows("before its log is open", map[string]float64{"replicas_heard": 0, "leads b": 0, "behind_seconds": -1})

		s.log = endsAt{head: 100}
		s.took(&peer{address: "there", head: feed.Head{Process: "a_1", Leads: true, Sequence: 100}}, time.Now())
		time.Sleep(2 * time.Second)
		shows("a standby", map[string]float64{
			"replicas_heard": 1, "leads a": 1, "leads b": 0, "lag_records a": 0, "silent_seconds a": 2, "behind_seconds": 2,
		})
		time.Sleep(2 * time.Second)
		shows("a standby whose leader is silent", map[string]float64{
			"replicas_heard": 0, "leads a": 0, "leads b": 0, "lag_records a": 0, "silent_seconds a": 4, "behind_seconds": 4,
		})

		leads, s.log = true, endsAt{head: 120}
		shows("a leader whose leader before has not come back", map[string]float64{
			"replicas_heard": 0, "leads a": 0, "leads b": 1, "lag_records a": 20, "silent_seconds a": 4, "behind_seconds": 0,
		})
		now := time.Now()
		followers = []feed.Follower{
			{Name: "a_0", Through: 10, Heard: now.Add(-time.Hour)}, // a process that ended
			{Name: "a_3", Through: 115, Heard: now.Add(-time.Second)},
			{Name: "b_1", Through: 115, Heard: now.Add(-time.Hour)},
			{Name: "b_5", Through: 120, Heard: now.Add(-time.Second)}, // a second process of this host
			{Name: "c_1", Through: 119, Heard: now.Add(-time.Minute)},
		}
		shows("a leader with followers", map[string]float64{
			"replicas_heard": 2, "leads a": 0, "leads b": 1, "leads b_5": 0, "leads c": 0, "lag_records a": 5,
			"lag_records b_5": 0, "lag_records c": 1, "silent_seconds a": 1, "silent_seconds b_5": 1, "silent_seconds c": 60,
			"behind_seconds": 0,
		})
	})
}
