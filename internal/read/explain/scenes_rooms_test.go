package explain_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
)

// TestWhoWaitsForTheSameImage: another Job is compared with one that waits for an image if its template has that image,
// in whichever words its kubelet says so, or if its template is not known.
func TestWhoWaitsForTheSameImage(t *testing.T) {
	template := func(images ...string) string {
		var all []string
		for _, image := range images {
			all = append(all, `{"name":"of-`+image+`","image":"`+image+`"}`)
		}
		return `{"spec":{"containers":[` + strings.Join(all, ",") + `]}}`
	}
	for _, row := range []struct {
		name, template string
		want           string
	}{
		{"the same", template("app:1"), "1 other Job waited for the same in the hour before, and none went on"},
		{"among others", template("proxy:1", "app:1"),
			"1 other Job waited for the same in the hour before, and none went on"},
		{"another", template("app:2"), ""},
		{"others", template("proxy:1", "app:2"), ""},
	} {
		l := newScene(t, false)
		first := l.job("09:00:00", "first", row.template, nil)
		first.starts("09:00:00")
		first.pod("09:00:01", "first-x", waits("ErrImagePull", "main", "denied"))
		j := l.job("09:00:02", "demo", template("sidecar:1", "app:1"), nil)
		j.starts("09:00:02")
		j.pod("09:00:03", "demo-x", waits("ErrImagePull", "main", "not found"))
		l.node("09:05:00", "node-1", func(*events.NodeSeen) {})
		c := j.caseOf(0)
		if err := c.Compare(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		var got []string
		for _, s := range all(&a) {
			if strings.Contains(s.Text, "in the hour before") {
				got = append(got, s.Text)
			}
		}
		if text := strings.Join(got, "; "); text != row.want {
			t.Errorf("%s: %q, want %q", row.name, text, row.want)
		}
	}
}

// TestWhatWasStuckForHalfAMinute until nobody watched any more: from 30 s on it is told.
func TestWhatWasStuckForHalfAMinute(t *testing.T) {
	for until, want := range map[string]string{"09:00:31": "", "09:00:32": "stuck for 30s: ",
		"09:00:33": "stuck for 31s: "} {
		l := newScene(t, true)
		j := l.job("09:00:00", "etl", "{}", nil)
		j.starts("09:00:01")
		j.pod("09:00:02", "x1", waits("Unschedulable", "", "0/1 nodes are available: 1 Insufficient cpu."))
		l.unwatched(until, "09:10:00", func() {
			l.tell("09:10:00", j.of, events.KindJobDeleted, &events.JobGone{Version: 900, Missed: true}, j.e)
		})
		f, err := failures.Find(t.Context(), l.source(), failures.Query{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range f.Items {
			got += x.Why
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("nobody watched from %s on: %q, want %q", until, got, want)
		}
	}
}

// TestTroubleOfCronJobsHasNoLabels: a query for labels is about Jobs, since the log has none of CronJobs; one for a
// namespace is about both.
func TestTroubleOfCronJobsHasNoLabels(t *testing.T) {
	l := newScene(t, true)
	c := l.cron("08:59:30", true, func(f *events.CronJobSeen) { f.Policy = "Forbid" })
	c.runs("09:00:00", "09:00:00", "29540700", nil)
	c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "29540700", 0))
	c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
	c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
	l.node("09:20:00", "node-1", func(*events.NodeSeen) {})
	for _, row := range []struct {
		q    failures.Query
		want int
	}{
		{failures.Query{}, 1}, {failures.Query{Until: l.newest}, 1}, {failures.Query{Namespace: "batch"},
			1}, {failures.Query{Namespace: "other"}, 0},
		{failures.Query{Labels: labels.Everything()}, 0}, {failures.Query{Labels: labels.Everything(), Until: l.newest}, 0},
	} {
		f, err := failures.Find(t.Context(), l.source(), row.q)
		if err != nil {
			t.Fatal(err)
		}
		if f.CronJobs != row.want || len(f.Items) != row.want {
			t.Errorf("%+v: %d CronJobs are looked at, %d in trouble", row.q, f.CronJobs, len(f.Items))
		}
	}
}
