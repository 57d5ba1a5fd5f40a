package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// observed is the recorded log of the Jobs of the built-in controller.
func observed(t *testing.T) *recorded {
	t.Helper()
	for _, dir := range logs(t) {
		if strings.HasSuffix(dir, "observed") {
			return openRecorded(t, dir)
		}
	}
	t.Fatal("no log of observed Jobs")
	return nil
}

// TestPodsThatDoNotCome: a quota refuses the pods of a Job of the built-in controller for 15 s. Who observes is not
// told, and says so: since when no pod came, and what is missing to know why. At first it is too early to say anything.
func TestPodsThatDoNotCome(t *testing.T) {
	src := observed(t)
	s := src.job(t, "quota/invoice")
	var created, came events.Time
	for i := range src.records {
		switch r := &src.records[i]; {
		case r.Stream != s:
		case r.Kind == events.KindJobAdded:
			created = r.Time
		case r.Kind == events.KindPodAdded && came == 0:
			came = r.Time
		}
	}
	if came.Sub(created) < 12*time.Second {
		t.Fatalf("its first pod came after %s", came.Sub(created))
	}
	const missing = "why is unknown; missing: what the API server answered the built-in controller"
	for _, row := range []struct {
		name string
		at   events.Time
		says []string
	}{
		{"after a second", created.Add(time.Second), []string{"WAITING for 1"}},
		{"after six", created.Add(6 * time.Second), []string{"WAITING for 6", "no pod came, though 2 were wanted", missing}},
		{"after twelve", created.Add(12 * time.Second), []string{"STUCK for 12", "no pod came, though 2 were wanted", missing}},
		{"when they are there", came.Add(time.Second), []string{"RUNNING for", "no pod came, though 2 were wanted, from ", missing}},
		{"at the end", 0, []string{"COMPLETE", "no pod came, though 2 were wanted, from ", missing, "no pod came 1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := job.Read(t.Context(), src, s, history.Point{Time: row.at})
			if err != nil {
				t.Fatal(err)
			}
			keepJob(t, src, s, history.Point{Time: row.at})
			a := c.Answer()
			var text strings.Builder
			for _, x := range all(&a) {
				text.WriteString(x.Text + "\n")
			}
			for _, words := range row.says {
				if !strings.Contains(text.String(), words) {
					t.Errorf("it does not say %q:\n%s", words, &text)
				}
			}
			if got := strings.Contains(text.String(), "no pod came"); got != (len(row.says) > 1) {
				t.Errorf("it says that no pod came: %v\n%s", got, &text)
			}
		})
	}
}

// TestOnlyPodsThatAreWantedAreMissed: of all recorded Jobs of the built-in controller two waited for pods that were
// refused. The others waited for a backoff, a resume, a node, or not at all.
func TestOnlyPodsThatAreWantedAreMissed(t *testing.T) {
	src := observed(t)
	said := map[events.Stream]bool{}
	for _, s := range src.jobs() {
		c, err := job.Read(t.Context(), src, s, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		for _, x := range all(&a) {
			said[s] = said[s] || strings.Contains(x.Text, "no pod came")
		}
	}
	refused := map[events.Stream]bool{src.job(t, "quota/invoice"): true, src.job(t, "webhook-down/billing"): true}
	for s, says := range said {
		if says != refused[s] {
			t.Errorf("%s: it says that no pod came: %v", s, says)
		}
	}
}

// TestALackThatSpansATimeWithoutAWatch: of the time in which nobody watched nothing is said; of those before and
// behind it is, each for itself, with the records that begin and end them.
func TestALackThatSpansATimeWithoutAWatch(t *testing.T) {
	const (
		lacks  = "no pod came, though 1 was wanted, from "
		before = lacks + "09:00:00 to 09:01:00, when it was watched no more (1m)"
	)
	begin := func(t *testing.T) *staged {
		l := stage(t, false, nil)
		l.watching("08:59:30", events.WatchingOn)
		l.job("09:00:00", nil)
		l.pass("09:00:30")
		return l
	}
	for _, row := range []struct {
		name      string
		goes      func(l *staged)
		says, not []string
	}{
		{"it lasts", func(l *staged) {
			l.unwatched("09:01:00", "09:10:00", func() {})
			l.pass("09:10:40")
		}, []string{before, lacks + "09:10:00 on (40s)"}, []string{"(10m40s)"}},
		{"it lasts for too short a time behind", func(l *staged) {
			l.unwatched("09:01:00", "09:10:00", func() {})
			l.pass("09:10:04")
		}, []string{before}, []string{"09:10:00 on"}},
		{"it began just before", func(l *staged) {
			l.unwatched("09:00:04", "09:10:00", func() {})
			l.pass("09:10:40")
		}, []string{lacks + "09:10:00 on (40s)"}, []string{"watched no more"}},
		{"it is not watched yet", func(l *staged) {
			l.add("09:10:00", events.Controller, events.KindListingStarted, &events.ListingStarted{
				Reason: events.ListingRelisted, LastSeen: cronClock("09:01:00"),
				Resources: []events.Resource{events.Jobs, events.Pods}, LastVersions: []uint64{1, 1},
			})
		}, []string{before}, []string{" on (", "(10m)"}},
		{"its pod came meanwhile", func(l *staged) {
			l.unwatched("09:01:00", "09:10:00", func() {
				l.pod("09:10:00", func(p *events.PodSeen, _ *events.Evidence) { p.Created = cronClock("09:02:00") })
			})
			l.pass("09:10:40")
		}, []string{before}, []string{"09:10:00 on", "(10m"}},
		{"it was watched all the time", func(l *staged) {
			l.pass("09:10:40")
		}, []string{lacks + "09:00:00 on (10m40s)"}, []string{"watched no more"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := begin(t)
			row.goes(l)
			hold(t, l.said(), row.says, row.not)
		})
	}
}
