package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestADueTimeIsDroppedByTheEditOfItsSchedule: of several edits while a due time was open, no other one is named.
func TestADueTimeIsDroppedByTheEditOfItsSchedule(t *testing.T) {
	for _, ours := range []bool{false, true} {
		c := newScene(t, ours).cron("08:59:30", ours, func(f *events.CronJobSeen) { f.Policy = "Forbid" })
		c.runs("09:00:00", "09:00:00", "29540700", nil)
		c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "29540700", 0))
		c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
		if ours {
			c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
		}
		c.edit("09:01:10", "kubectl-patch", func(f *events.CronJobSeen) { f.Template, f.Redacted = "t2", "t2" })
		c.edit("09:01:20", "argocd", func(f *events.CronJobSeen) { f.Schedule = "30 10 1 1 *" })
		dropped := c.fate("09:01:00", "09:01:00", events.TickReplaced, nil)
		c.ledger("09:01:21", "09:01:20", "", events.NotHeld, dropped)
		says := c.whyNot("09:01:00")
		if ours && !strings.Contains(says, "argocd") || strings.Contains(says, "kubectl-patch") {
			t.Errorf("ours: %t: %s", ours, says)
		}
	}
}

// TestACronJobThatIsThereAgain: one of which a record says that it is gone, and a later one that it is there, as after
// the cluster was restored from a backup, is told as it is.
func TestACronJobThatIsThereAgain(t *testing.T) {
	for _, ours := range []bool{false, true} {
		c := newScene(t, ours).cron("08:59:30", ours, nil)
		c.well("09:00", "29540700", events.ResultComplete)
		c.add("09:00:30", c.of, events.KindCronJobDeleted, &events.CronJobGone{})
		c.says("DELETED")
		c.see("09:00:40", events.KindCronJobAdded, events.Evidence{})
		c.says("!DELETED", "HEALTHY")
	}
}

// TestTwoNodesAreCompared: of the nodes on which tries failed, the first two are held against the others.
func TestTwoNodesAreCompared(t *testing.T) {
	l := newScene(t, false)
	j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(2)) })
	j.starts("09:00:00")
	like := map[string]*sceneJob{}
	for _, name := range []string{"bad", "well-1", "well-2", "well-3"} {
		like[name] = l.job("09:00:00", name, "", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(0)) })
		like[name].starts("09:00:00")
	}
	for i, name := range []string{"well-1", "well-2", "well-3"} {
		node := []string{"node-7", "node-8", "node-9"}[i]
		like[name].pod("09:00:01", name+"-x", nil).runs("09:00:01", node).succeeds("09:00:01").counted("09:00:01")
		like[name].ends("09:00:01", status.Complete, "CompletionsReached", "")
	}
	like["bad"].pod("09:00:01", "bad-x", nil).runs("09:00:01", "node-3").fails("09:00:01", 1, "").counted("09:00:01")
	like["bad"].ends("09:00:01", status.Failed, "BackoffLimitExceeded", "")
	var tries []*scenePod
	for _, node := range []string{"node-1", "node-2", "node-3"} {
		tries = append(tries, j.pod("09:00:02", "demo-"+node, nil).runs("09:00:02", node))
	}
	for _, p := range tries {
		p.fails("09:00:04", 2, "").counted("09:00:04")
	}
	j.ends("09:00:05", status.Failed, "BackoffLimitExceeded", "")
	c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Compare(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := c.Answer()
	var says strings.Builder
	for _, s := range all(&a) {
		says.WriteString(s.Text + "\n")
	}
	if s := says.String(); strings.Contains(s, "around then") || strings.Contains(s, "node-3: ") {
		t.Error(s)
	}
}
