package croncase

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// visited is a case that has seen these facts, the n-th in record n and second n.
func visited(all ...events.Facts) *Case {
	c := &Case{State: history.CronJob{Namespace: "ns"}}
	for i, f := range all {
		n := events.Sequence(i + 1)
		kind := events.TraitsOf(f).Kinds[0].Kind
		c.visit(&events.Record{
			Header: events.Header{Sequence: n, Previous: n - 1, Time: whentest.Sec(float64(n)), Kind: kind}, Facts: f,
			Evidence: events.Evidence{Name: "of-" + string(rune('a'+i)), Template: []byte{byte(n)}},
		})
	}
	return c
}

func ran(uid string, result events.JobResult) *events.RunSeen {
	return &events.RunSeen{Job: types.UID(uid), Name: uid, Result: result, Due: whentest.Sec(100)}
}

// TestWhatIsKnownOfARun: its first record, the first of its end, and that of its disappearance, until it is seen again.
func TestWhatIsKnownOfARun(t *testing.T) {
	made := &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Done, UID: "a", Due: whentest.Sec(50)}
	byHand := &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Done, UID: "a"}
	refused := &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Refused, UID: "a"}
	nameless := &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Done}
	deleted := &events.CommandEnded{Type: events.CommandDeleteRun, Ending: events.Done, Run: "a"}
	none, complete, failed := ran("a", events.ResultNone), ran("a", events.ResultComplete), ran("a", events.ResultFailed)
	gone, left := &events.RunGone{Job: "a"}, &events.RunGone{Job: "a", Left: true}
	for _, row := range []struct {
		name               string
		facts              []events.Facts
		n                  int
		first, ended, gone events.Sequence
		left, manual       bool
		madeFor            float64
	}{
		{"seen", []events.Facts{none}, 1, 1, 0, 0, false, false, 100},
		{"seen at its end", []events.Facts{complete}, 1, 1, 1, 0, false, false, 100},
		{"seen to end, and again", []events.Facts{none, complete, complete}, 1, 1, 2, 0, false, false, 100},
		{"another result later", []events.Facts{failed, complete}, 1, 1, 1, 0, false, false, 100},
		{"gone", []events.Facts{none, gone}, 1, 1, 0, 2, false, false, 100},
		{"left", []events.Facts{none, left}, 1, 1, 0, 2, true, false, 100},
		{"adopted again", []events.Facts{none, left, none}, 1, 1, 0, 0, false, false, 100},
		{"gone, and never seen", []events.Facts{gone}, 0, 0, 0, 0, false, false, 0},
		{"two", []events.Facts{ran("b", events.ResultNone), none, &events.RunGone{Job: "b"}}, 2, 2, 0, 0, false, false, 100},
		{"made", []events.Facts{made}, 1, 1, 0, 0, false, false, 50},
		{"made by a trigger", []events.Facts{byHand}, 1, 1, 0, 0, false, true, 0},
		{"made, and seen", []events.Facts{made, none}, 1, 1, 0, 0, false, false, 50},
		{"seen, and made", []events.Facts{none, made}, 1, 1, 0, 0, false, false, 100},
		{"refused", []events.Facts{refused}, 0, 0, 0, 0, false, false, 0},
		{"made without a UID", []events.Facts{nameless}, 0, 0, 0, 0, false, false, 0},
		{"made, and deleted unseen", []events.Facts{made, deleted}, 1, 1, 0, 2, false, false, 50},
		{"deleted unseen, twice", []events.Facts{made, deleted, deleted}, 1, 1, 0, 2, false, false, 50},
		{"seen, and its delete is done", []events.Facts{made, none, deleted}, 1, 1, 0, 0, false, false, 50},
		{"deleted, and unknown", []events.Facts{deleted}, 0, 0, 0, 0, false, false, 0},
	} {
		c := visited(row.facts...)
		if len(c.Runs) != row.n {
			t.Errorf("%s: %d Jobs", row.name, len(c.Runs))
			continue
		}
		r := c.Run("a")
		if row.n == 0 {
			if r != nil {
				t.Errorf("%s: %+v", row.name, r)
			}
			continue
		}
		madeFor := events.Time(0)
		if row.madeFor != 0 {
			madeFor = whentest.Sec(row.madeFor)
		}
		if r.First.Record != row.first || r.Ended.Record != row.ended || r.Gone.Record != row.gone || r.Left != row.left ||
			r.MadeFor != madeFor || r.Manual != row.manual || r.Name == "" {
			t.Errorf("%s: %+v", row.name, r)
		}
	}
}

// TestWhatIsKnownOfACronJob: when it was added and its deletion was asked for, first; and that it is gone, until it is
// seen again.
func TestWhatIsKnownOfACronJob(t *testing.T) {
	seen, going, gone := &events.CronJobSeen{}, &events.CronJobSeen{Deleted: whentest.Sec(9)}, &events.CronJobGone{}
	for _, row := range []struct {
		facts                 []events.Facts
		added, deleting, gone events.Sequence
	}{
		{[]events.Facts{seen}, 1, 0, 0}, {[]events.Facts{seen, seen}, 1, 0, 0}, {[]events.Facts{seen, going, going}, 1, 2, 0},
		{[]events.Facts{seen, going, gone}, 1, 2, 3}, {[]events.Facts{gone}, 0, 0, 1}, {[]events.Facts{gone, seen}, 2, 0, 0},
	} {
		c := visited(row.facts...)
		if c.Added.Record != row.added || c.Deleting.Record != row.deleting || c.Gone.Record != row.gone || !c.began {
			t.Errorf("%+v: added %d, deleting %d, gone %d", row, c.Added.Record, c.Deleting.Record, c.Gone.Record)
		}
	}
	c := visited(&events.JobTemplate{Hash: "a"}, &events.JobTemplate{Hash: "b"})
	if len(c.templates) != 2 || string(c.templates["a"]) != "\x01" || string(c.templates["b"]) != "\x02" {
		t.Errorf("templates %v", c.templates)
	}
}

// TestACronJobThatGoesWithItsNamespace: the namespace of that name was being deleted since the CronJob was there, and
// was seen so by the time that the CronJob was gone.
func TestACronJobThatGoesWithItsNamespace(t *testing.T) {
	for _, row := range []struct {
		name                         string
		deleted, created, gone, seen float64
		of                           string
		want                         bool
	}{
		{"it does", 20, 10, 30, 25, "ns", true}, {"another namespace", 20, 10, 30, 25, "other", false},
		{"it is not being deleted", 0, 10, 30, 25, "ns", false}, {"the CronJob is there", 20, 10, 0, 25, "ns", false},
		{"deleted before, in whole seconds", 9, 10, 30, 25, "ns", true}, {"deleted before", 8, 10, 30, 25, "ns", false},
		{"seen later, as watches are", 20, 10, 30, 35, "ns", true}, {"seen later", 20, 10, 30, 35.5, "ns", false},
	} {
		c := &Case{State: history.CronJob{Namespace: "ns", Created: whentest.Recorded(row.created)}}
		f := &events.NamespaceSeen{Name: row.of}
		if row.deleted != 0 {
			f.Deleted = whentest.Sec(row.deleted)
		}
		if row.gone != 0 {
			c.Gone = whentest.Seen(50, row.gone)
		}
		if got := c.goesWith(f, whentest.Sec(row.seen)); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

// TestWhatIsAskedForItsOpenDueTime is a create, beside whatever else is in flight, by the last decision.
func TestWhatIsAskedForItsOpenDueTime(t *testing.T) {
	create, remove := history.Command{Does: "create Job a"}, history.Command{Does: "delete Job create b"}
	for _, row := range []struct {
		name  string
		state history.CronJob
		want  string
		by    int
	}{
		{"nothing", history.CronJob{LastDecision: &history.Decision{Sequence: 7}}, "", 0},
		{"a create", history.CronJob{InFlight: []history.Command{create}, LastDecision: &history.Decision{Sequence: 7}},
			"create Job a", 1},
		{"a create by nobody known", history.CronJob{InFlight: []history.Command{create}}, "create Job a", 0},
		{"a delete", history.CronJob{InFlight: []history.Command{remove}, LastDecision: &history.Decision{Sequence: 7}}, "",
			0},
		{"both", history.CronJob{InFlight: []history.Command{remove, create}, LastDecision: &history.Decision{Sequence: 7}},
			"create Job a", 1},
		{"in the other order", history.CronJob{InFlight: []history.Command{create, remove},
			LastDecision: &history.Decision{Sequence: 7}}, "create Job a", 1},
	} {
		asked, by := askedFor(&row.state)
		if asked.Does != row.want || len(by) != row.by || row.by == 1 && by[0].Record != 7 {
			t.Errorf("%s: %q by %v", row.name, asked.Does, by)
		}
	}
}
