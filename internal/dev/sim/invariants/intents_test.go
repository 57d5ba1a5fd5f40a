package invariants

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// TestIntents: rules that need to know what a decision was based on.
//
//conformance:fact the simulation finds: %s
func TestIntents(t *testing.T) {
	for _, row := range []struct {
		name    string
		want    string
		history func(*lab)
	}{
		{"a drop that is neither accounted for nor surplus", "design §2, invariant 7", func(l *lab) {
			l.job()
			l.intents[l.end("a", -1, corev1.PodFailed)] = Intent{}
			l.drop(l.controller, "a")
		}},
		{"surplus that was seen running and ended meanwhile", "", func(l *lab) {
			l.job()
			p := l.run("a", -1)
			l.intents[p.UID] = Intent{Surplus: true, PodSeen: l.Version()}
			l.phase("a", corev1.PodSucceeded)
			l.drop(l.controller, "a")
		}},
		{"surplus that was known to have ended", "J-073", func(l *lab) {
			l.job()
			uid := l.end("a", -1, corev1.PodSucceeded)
			l.intents[uid] = Intent{Surplus: true, PodSeen: l.Version()}
			l.drop(l.controller, "a")
		}},
		{"a pod for a Job that was known to be suspended", "J-047", func(l *lab) {
			l.job(func(s *batchv1.JobSpec) { s.Suspend = new(true) })
			l.intended("a")
		}},
		{"a pod for a Job that was known to be deleted", "J-011", func(l *lab) {
			l.job()
			l.must(l.user.DeleteJob(ctx, "default", "demo", "", "Foreground"))
			l.intended("a")
		}},
		{"a pod for a Job that was suspended after the decision", "", func(l *lab) {
			job := l.job()
			seen := l.Version()
			job.Spec.Suspend = new(true)
			_, err := l.user.UpdateJob(ctx, job)
			l.must(err)
			l.checker.cfg.Intent = func(apiserver.Write) (Intent, bool) { return Intent{JobSeen: seen}, true }
			l.create("a", -1)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t, true)
			row.history(l)
			wantRule(t, l.checker.Check(), row.want)
		})
	}
}

// intended makes a pod by a decision that was based on the newest versions.
func (l *lab) intended(name string) {
	l.Helper()
	seen := l.Version()
	l.checker.cfg.Intent = func(apiserver.Write) (Intent, bool) { return Intent{JobSeen: seen}, true }
	l.create(name, -1)
}

func TestALateCreateIsForgivenOnlyAfterTheLogWasLost(t *testing.T) {
	for _, row := range []struct {
		lost bool
		want string
	}{{false, "J-052"}, {true, ""}} {
		l := newLab(t, false)
		l.job(indexedJob)
		if row.lost {
			l.checker.LogLost()
		}
		l.create("a", 0)
		late := l.Server.Pod("default", "a")
		late.Name, late.ResourceVersion, late.UID = "b", "", ""
		l.controller.FailNext(apiserver.Fault{Kind: apiserver.TimeoutLate, Delay: 1})
		if _, err := l.controller.CreatePod(ctx, late); err == nil {
			t.Fatal("no time-out")
		}
		l.Clock().Advance(1)
		wantRule(t, l.checker.Check(), row.want)
	}
}
