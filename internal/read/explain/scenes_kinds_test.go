package explain_test

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/store"
)

// TestTheLastSuspensionIsNamed: of a CronJob that was suspended, resumed and suspended again, a due time that did not
// start names the last suspension, and who asked for it, if it names one.
func TestTheLastSuspensionIsNamed(t *testing.T) {
	for _, ours := range []bool{false, true} {
		c := newScene(t, ours).cron("08:59:10", ours, nil)
		for i, by := range []string{"first", "second", "third"} {
			c.edit([]string{"08:59:20", "08:59:30", "08:59:40"}[i], by, func(f *events.CronJobSeen) { f.Suspend = i != 1 })
		}
		c.ledger("09:00:01", "08:59:00", "09:00:00", events.HeldSuspended)
		c.see("09:01:30", events.KindCronJobChanged, events.Evidence{})
		says := c.whyNot("09:00:00")
		before := strings.Contains(says, "first") || strings.Contains(says, "second")
		if before || !ours && !strings.Contains(says, "third") {
			t.Errorf("ours: %t: %s", ours, says)
		}
	}
}

// refusedAt has the API server refuse a pod of the Job.
func (j *sceneJob) refusedAt(clock string, n uint64, class events.RefusalClass, says string) {
	j.l.t.Helper()
	create := &events.CreatePod{Ordinal: n, Index: events.NoIndex}
	j.ended(clock, j.decides(clock, "MorePodsWanted", "1 pod is wanted", create), create, events.Refused, class, says)
}

// TestWhatWasRefusedWhenTheDeadlinePassed: of two reasons for which pods were refused, the verdict names the one that
// held then, and not one of before.
func TestWhatWasRefusedWhenTheDeadlinePassed(t *testing.T) {
	l := newScene(t, true)
	j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.ActiveDeadlineSeconds = new(int64(30)) })
	j.starts("09:00:00")
	j.refusedAt("09:00:01", 1, events.RefusedQuota, "exceeded quota: small")
	j.refusedAt("09:00:05", 2, events.RefusedForbidden, "policy says no")
	j.decides("09:00:30", "DeadlineExceeded", "the deadline has passed")
	j.ends("09:00:30", status.Failed, "DeadlineExceeded", "Job was active longer than specified deadline")
	c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	a := c.Answer()
	if says := a.Verdict.Text; !strings.Contains(says, "policy says no") || strings.Contains(says, "quota") {
		t.Error(says)
	}
}

// TestOthersWaitForTheirPods: another Job is held up by the same only if the API server refused a pod of it. A refusal
// of something else, in the same words, is another matter.
func TestOthersWaitForTheirPods(t *testing.T) {
	for _, pods := range []bool{true, false} {
		l := newScene(t, true)
		other, demo := l.job("09:00:00", "other", "", nil), l.job("09:00:00", "demo", "", nil)
		if other.starts("09:00:00"); pods {
			other.refusedAt("09:00:01", 1, events.RefusedQuota, "exceeded quota: small")
		} else {
			p := other.pod("09:00:00", "other-a", nil)
			remove := &events.DeletePod{Pod: p.f.UID}
			at := other.decides("09:00:01", "FewerPodsWanted", "none is wanted", remove)
			other.ended("09:00:01", at, remove, events.Refused, events.RefusedQuota, "exceeded quota: small")
		}
		demo.starts("09:00:02")
		demo.refusedAt("09:00:02", 1, events.RefusedQuota, "exceeded quota: small")
		demo.status("09:00:20", func(*events.JobStatus) {})
		c, err := job.Read(t.Context(), l.source(), demo.of, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Compare(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		if got := strings.Contains(texts(&a), "1 other Job waited for the same"); got != pods {
			t.Errorf("pods were refused: %t: %s", pods, texts(&a))
		}
	}
}

// TestADrainIsToldWithTheFirstCause: who cordons a node and then evicts its pods drains it, and FIRST says both.
func TestADrainIsToldWithTheFirstCause(t *testing.T) {
	for _, cordoned := range []bool{true, false} {
		l := newScene(t, true)
		j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(0)) })
		l.node("09:00:00", "node-7", func(*events.NodeSeen) {})
		j.starts("09:00:00")
		p := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-7")
		l.node("09:00:05", "node-7", func(f *events.NodeSeen) { f.Cordoned = cordoned })
		p.see("09:00:06", func(p *scenePod) { p.disrupted("EvictionByEvictionAPI", "Eviction API: evicting", "09:00:06") })
		p.deleted("09:00:06", 30)
		p.fails("09:00:08", 143, "")
		j.ends("09:00:09", status.Failed, "BackoffLimitExceeded", "")
		c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		says := under(&a, "FIRST")
		if !strings.Contains(says, "evicted through the eviction API") || strings.Contains(says, "cordoned") != cordoned {
			t.Errorf("cordoned %t: %s", cordoned, texts(&a))
		}
	}
}

// TestWhoWroteTheSpecIsNamed: where an API client deleted a Job or a pod of it, and nobody knows which, the field
// managers of the Job's spec are named, with what each did. Controllers are not, nor is anybody where the deletion is
// explained.
func TestWhoWroteTheSpecIsNamed(t *testing.T) {
	const edited = "keda edited it at 09:00:02; a deletion has no field manager, so who deleted may be another"
	const seen = "seen on the Job's spec: "
	const says = seen + "argocd made it, " + edited
	deleted := func(_ *sceneJob, p *scenePod) {
		p.deleted("09:00:05", 30)
		p.gone("09:00:06")
	}
	gone := func(j *sceneJob, _ *scenePod) { j.gone("09:00:06") }
	fails := func(_ *sceneJob, p *scenePod) { p.fails("09:00:05", 1, "") }
	const builtin = "kube-controller-manager"
	for what, row := range map[string]struct {
		maker, editor string
		end           func(j *sceneJob, p *scenePod)
		want          string
	}{
		"a pod was deleted":                     {"argocd", "keda", deleted, says},
		"its Job was deleted":                   {"argocd", "keda", gone, says},
		"a pod that ended":                      {"argocd", "keda", fails, ""},
		"by controllers only":                   {builtin, "jobledger", deleted, ""},
		"made by a controller, edited by a man": {builtin, "keda", deleted, seen + edited},
	} {
		l := newScene(t, true)
		made := &events.Edit{Manager: row.maker, Operation: "Update"}
		j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.e.Edit = made })
		j.e.Edit = nil
		j.starts("09:00:00")
		p := j.pod("09:00:01", "demo-a", nil).runs("09:00:01", "node-1")
		j.edit("09:00:02", row.editor, func(s *events.JobSpec) { s.BackoffLimit = new(int32(7)) })
		row.end(j, p)
		c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		if got := under(&a, "MANAGERS"); strings.TrimSpace(got) != row.want {
			t.Errorf("%s: %q, want %q in\n%s", what, got, row.want, texts(&a))
		}
	}
}

var clocks = regexp.MustCompile(`\b(\d\d):\d\d:\d\d`)

// TestFailuresInAZone: the times in what is said of trouble are those of the zone that was asked for.
func TestFailuresInAZone(t *testing.T) {
	n := 0
	for _, dir := range logs(t) {
		src := openRecorded(t, dir)
		var says [2][]string
		for i, zone := range []words.Zone{{}, {Location: time.FixedZone("X", int(time.Hour/time.Second))}} {
			f, err := failures.Find(t.Context(), src, failures.Query{Survived: true, Zone: zone})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range f.Items {
				for _, m := range clocks.FindAllStringSubmatch(x.Why, -1) {
					says[i] = append(says[i], m[0])
				}
			}
		}
		for i, utc := range says[0] {
			at, err := time.Parse(time.TimeOnly, utc)
			if n++; err != nil || i >= len(says[1]) || says[1][i] != at.Add(time.Hour).Format(time.TimeOnly) {
				t.Errorf("%s: %s is told in a zone an hour ahead as %v", dir, utc, says[1])
				break
			}
		}
	}
	if n == 0 {
		t.Error("no time was told")
	}
}

// damagedAt is a source in which a record of one stream cannot be read.
type damagedAt struct {
	*recorded
	of  events.Stream
	bad error
}

func (d *damagedAt) ReadStream(
	ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction,
) iter.Seq2[events.Record, error] {
	if s != d.of {
		return d.recorded.ReadStream(ctx, s, from, dir)
	}
	return func(yield func(events.Record, error) bool) { yield(events.Record{}, d.bad) }
}

// TestDamageHidesNothingElse: where the records of one CronJob or Job cannot be read, the list of trouble says so, and
// has the trouble of all others.
func TestDamageHidesNothingElse(t *testing.T) {
	for _, dir := range logs(t) {
		src := openRecorded(t, dir)
		whole, err := failures.Find(t.Context(), src, failures.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []events.StreamKind{events.StreamCronJob, events.StreamJob} {
			for i, x := range whole.Items {
				of := events.Stream{Kind: kind, ID: x.UID}
				if (x.Kind == "CronJob") != (kind == events.StreamCronJob) || i > 6 {
					continue
				}
				damaged := &damagedAt{src, of, &store.CorruptError{Path: "x", At: 7}}
				f, err := failures.Find(t.Context(), damaged, failures.Query{})
				if bad := new(store.CorruptError); !errors.As(err, &bad) {
					t.Errorf("%s without %s: the damage is not told: %v", dir, x.Name, err)
				}
				left := map[types.UID]bool{}
				for _, y := range f.Items {
					left[types.UID(y.UID)] = true
				}
				for _, y := range whole.Items {
					if y.UID != x.UID && !left[types.UID(y.UID)] {
						t.Errorf("%s without %s: %s is not told", dir, x.Name, y.Name)
					}
				}
			}
		}
	}
}

// TestANodeThatGoesDuringADeletion: a pod is being deleted by an API client when the object of its node is deleted. The
// client asked first, and the answer says so; what ended the pod then nobody knows, so a lost node is not ruled out. It
// is when the node goes after the pod.
func TestANodeThatGoesDuringADeletion(t *testing.T) {
	for _, during := range []bool{true, false} {
		l := newScene(t, true)
		j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(0)) })
		l.node("09:00:00", "node-7", func(*events.NodeSeen) {})
		j.starts("09:00:00")
		p := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-7")
		p.deleted("09:00:05", 30)
		goes := func(clock string) {
			l.add(clock, events.Controller, events.KindNodeGone, &events.NodeGone{Name: "node-7", UID: "uid-node-7"})
		}
		if during {
			goes("09:00:06")
		}
		p.fails("09:00:08", 143, "")
		p.counted("09:00:08")
		j.decides("09:00:09", "BackoffLimitExceeded", "1 failure")
		j.ends("09:00:09", status.Failed, "BackoffLimitExceeded", "")
		if !during {
			goes("09:00:12")
		}
		c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		const went = "while it was being deleted the object of node node-7 was deleted, seen 09:00:06"
		if says := under(&a, "PODS"); !strings.Contains(says, "by an API client") || strings.Contains(says, went) != during {
			t.Errorf("during %t: %s", during, says)
		}
		if strings.Contains(under(&a, "RULED OUT"), "node loss") == during {
			t.Errorf("during %t, ruled out: %s", during, under(&a, "RULED OUT"))
		}
	}
}
