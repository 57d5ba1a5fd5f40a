package explain_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestGetAndExplainHaveOneView: before the first listing has ended 'get' and 'explain' say alike that the controller
// had no full view of the cluster of what goes on, and no history is complete. Of what is over nothing more comes, and
// both say nothing of that.
func TestGetAndExplainHaveOneView(t *testing.T) {
	const part, whole = "the controller had no full view of the cluster then", "history complete"
	l := newScene(t, false)
	l.add("08:00:00", events.Controller, events.KindListingStarted, &events.ListingStarted{Reason: events.ListingStart, Resources: []events.Resource{events.Jobs}, LastVersions: []uint64{0}})
	j := l.job("09:00:00", "demo", "", nil)
	j.starts("09:00:01")
	p := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
	goesOn := l.log.Head().Sequence
	p.succeeds("09:00:05")
	j.stat.Succeeded = 1
	j.ends("09:00:06", status.Complete, "CompletionsReached", "")
	c := l.cron("09:00:07", false, nil)
	synced := l.add("09:00:08", events.Controller, events.KindSynced, &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{5}})
	judge := func(a explain.Answer, get func(*show.Page) error, inPart bool) {
		t.Helper()
		var object bytes.Buffer
		if err := get(&show.Page{Out: &object}); err != nil {
			t.Fatal(err)
		}
		said := show.Markdown(&a, words.Zone{})
		if strings.Contains(object.String(), part) != inPart || strings.Contains(said, part) != inPart || strings.Contains(said, whole) == inPart {
			t.Errorf("in part: %t, get says\n%s\nexplain says\n%s", inPart, object.String(), said)
		}
	}
	for at, inPart := range map[events.Sequence]bool{goesOn: true, synced - 1: false} {
		job := j.caseOf(at)
		judge(job.Answer(), func(p *show.Page) error { return p.Job(&job.Job) }, inPart)
		pod, err := job.PodAnswer("demo-a")
		if err != nil {
			t.Fatal(err)
		}
		judge(pod, func(p *show.Page) error { return p.Job(&job.Job) }, inPart)
	}
	for at, inPart := range map[events.Sequence]bool{synced - 1: true, synced: false} {
		cron, err := cron.Read(t.Context(), l.source(), c.of, history.Point{Sequence: at})
		if err != nil {
			t.Fatal(err)
		}
		judge(cron.Answer(), func(p *show.Page) error { return p.CronJob(&cron.State) }, inPart)
	}
}

// TestAnObjectOfWhichOnlyTheSpecIsStored: a spec and a template are stored before the first version that has them. As
// of such a record nothing is known of pods or Jobs, and an answer says neither that it is from them.
func TestAnObjectOfWhichOnlyTheSpecIsStored(t *testing.T) {
	l := newScene(t, false)
	j := l.job("09:00:00", "demo", `{"spec":{}}`, nil)
	for _, at := range []events.Sequence{j.seen.SpecAt - 1, j.seen.SpecAt} {
		if got := j.caseOf(at).Answer().Verdict; !strings.HasPrefix(got.Text, "NOT SEEN YET: ") || len(got.Records) != 1 {
			t.Errorf("as of record %d the verdict is %q of %v", at, got.Text, got.Records)
		}
	}
	orphan := &sceneJob{l: l, of: events.JobStream("uid-orphan"), e: events.Evidence{Namespace: "batch", Name: "orphan"}}
	orphan.pod("09:00:02", "orphan-a", nil)
	if got := orphan.caseOf(0).Answer().Verdict.Text; !strings.HasPrefix(got, "UNSEEN: ") {
		t.Errorf("of a Job that only its pod names the verdict is %q", got)
	}
}

var clockTimes = regexp.MustCompile(`\d\d:\d\d:\d\d`)

// TestWithinAListing: a watch was lost at 09:00:30, and a listing began at 09:10:10. As of the records until it ended
// no answer tells a later time, none says that the CronJob was watched, and what became of the due times since is
// unknown.
func TestWithinAListing(t *testing.T) {
	for _, row := range []struct{ ours, edited bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		l, ours := newScene(t, row.ours), row.ours
		c := l.cron("08:59:30", ours, nil)
		c.well("09:00", "a", events.ResultComplete)
		var from events.Sequence
		all := []events.Resource{events.Jobs, events.Pods, events.CronJobs}
		from = c.add("09:10:10", events.Controller, events.KindListingStarted, &events.ListingStarted{
			Reason: events.ListingRelisted, Resources: all, LastSeen: cronClock("09:00:30"), LastVersions: []uint64{1, 1, 1},
		})
		if c.seen.Found = true; row.edited {
			c.seen.Schedule = "*/5 * * * *"
		}
		seen := c.see("09:10:12", events.KindCronJobChanged, events.Evidence{})
		c.seen.Found = false
		c.add("09:12:40", events.Controller, events.KindSynced, &events.Synced{Resources: all, Versions: []uint64{2000, 2000, 2000}})
		for _, at := range []events.Sequence{from, seen} {
			cron, err := cron.Read(t.Context(), l.source(), c.of, history.Point{Sequence: at})
			if err != nil {
				t.Fatal(err)
			}
			a := cron.Answer()
			said := show.Markdown(&a, words.Zone{})
			for _, clock := range clockTimes.FindAllString(said, -1) {
				if clock > "09:11:00" {
					t.Errorf("ours: %t, as of record %d it tells of %s:\n%s", ours, at, clock, said)
				}
			}
			if strings.Contains(said, "history complete") {
				t.Errorf("ours: %t, as of record %d its history is complete:\n%s", ours, at, said)
			}
			if !ours {
				hold(t, said, []string{"unknown: it was not watched from 2 Mar 09:00:30 on"}, []string{"has not started it so far", "NOT STARTING", "not started by", "dropped"})
			}
		}
	}
}
