package minors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// observed is the observer's patience: longer than the built-in controller waits on a busy machine.
const observed = 25 * time.Second

// runAll runs the Jobs, and a CronJob, under --manage=all, without the built-in controllers.
func (s *server) runAll() map[string]outcome {
	s.Helper()
	p := s.place("all", controller.NewUser)
	for _, err := range []error{
		controller.GrantTTL(s.ctx, s.cp, p.namespace, p.namespace), controller.GrantCronJobs(s.ctx, s.cp, p.namespace, p.namespace),
	} {
		if err != nil {
			s.Fatal(err)
		}
	}
	p.start("all")
	all := p.play()
	versions := p.atRest()
	p.cronJob()
	if still := p.atRest(); !maps.Equal(still, versions) {
		s.Errorf("finished Jobs were written again: versions %v, then %v", versions, still)
	}
	p.stop()
	p.writesFew()
	return all
}

// atRest returns the versions of the finished Jobs of the mix.
func (p *place) atRest() map[string]string {
	p.Helper()
	all := map[string]string{}
	for _, j := range mix() {
		all[j.Name] = p.job(j.Name).ResourceVersion
	}
	return all
}

// writesFew finds a status that is written again and again.
func (p *place) writesFew() {
	p.Helper()
	const most = 20 // the built-in makes one for each change of a Job; here fewer than ten
	counts := map[string]int{}
	for _, w := range p.writes() {
		if w.Resource == "jobs/status" {
			counts[w.Name]++
		}
	}
	for _, j := range mix() {
		if n := counts[j.Name]; n == 0 || n > most {
			p.Errorf("the status of Job %s was written %d times", j.Name, n)
		}
	}
	p.Logf("status writes: %v", counts)
}

// cronJob creates a CronJob, and waits until one of its Jobs has succeeded.
func (p *place) cronJob() {
	p.Helper()
	api := p.client.BatchV1().CronJobs(p.namespace)
	template := batchv1.JobTemplateSpec{Spec: newJob("template").Spec}
	template.Labels = map[string]string{"of": "nightly"}
	_, err := api.Create(p.ctx, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec:       batchv1.CronJobSpec{Schedule: "@every 1s", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: template},
	}, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	p.await("a run of the CronJob succeeded, and its status says so", func() bool {
		now, err := api.Get(p.ctx, "nightly", metav1.GetOptions{})
		if err != nil {
			p.Fatal(err)
		}
		return now.Status.LastScheduleTime != nil && now.Status.LastSuccessfulTime != nil
	})
	if err := api.Delete(p.ctx, "nightly", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
		p.Fatal(err)
	}
	p.await("its Jobs are gone", func() bool {
		list, err := p.client.BatchV1().Jobs(p.namespace).List(p.ctx, metav1.ListOptions{LabelSelector: "of=nightly"})
		if err != nil {
			p.Fatal(err)
		}
		return len(list.Items) == 0
	})
}

// observeBuiltin runs the Jobs under the built-in controller of that version, observed, with delegated Jobs beside
// them.
func (s *server) observeBuiltin() map[string]outcome {
	s.Helper()
	b, err := builtin.New(s.ctx, s.cp, s.TempDir())
	if err != nil {
		s.Fatal(err)
	}
	if err := b.Launch(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := b.Kill(); err != nil {
			s.Error(err)
		}
	})
	p := s.place("builtin", controller.NewReader)
	p.start("observe", "--observe-patience="+observed.String())
	all := p.play()
	settled := time.Now()
	s.runDelegated()
	p.await("the patience has passed after the last Job ended", func() bool { return time.Since(settled) > observed+5*time.Second })
	p.recorded(all)
	for _, w := range p.writes() {
		s.Errorf("it asked to %s %s %s", w.Verb, w.Resource, w.Name)
	}
	p.stop()
	return all
}

// recorded checks that the log has how each Job ended, and no difference from Jobledger's own decisions.
func (p *place) recorded(all map[string]outcome) {
	p.Helper()
	for name, want := range all {
		if got, err := p.ours.Job(p.ctx, name); err != nil || got.Reason != want.reason {
			p.Errorf("get job/%s says %q, %v, want %q", name, got.Reason, err, want.reason)
		}
	}
	records, err := p.ours.Records(p.ctx)
	if err != nil {
		p.Fatal(err)
	}
	names := map[string]string{}
	for _, r := range records {
		if r.Name != "" && strings.HasPrefix(r.Kind, "Job") {
			names[r.Stream] = r.Name
		}
		if r.Kind == "WouldDecide" {
			p.Errorf("the built-in controller did otherwise with Job %s: %s %s", names[r.Stream], r.Facts, r.Evidence)
		}
	}
}

// runDelegated runs Jobs beside the built-in controller: one of ours, and one of the built-in's. If the server drops
// managedBy, both are the built-in's, and Jobledger leaves them alone.
func (s *server) runDelegated() {
	s.Helper()
	p := s.place("delegated", controller.NewUser)
	p.start("delegated", "--observe=others")
	p.create(newJob("ours", managedBy(events.ManagedBy), indexed(4, 2), runFor("200ms")))
	p.create(newJob("theirs", runFor("200ms")))
	p.await("both are finished", func() bool { return finished(p.job("ours")) && finished(p.job("theirs")) })
	for _, name := range []string{"ours", "theirs"} {
		want := events.ManagedBy
		if name == "theirs" || s.serves.dropped["managedBy"] {
			want = "kube-controller-manager"
		}
		writers := map[string]bool{}
		for _, f := range p.job(name).ManagedFields {
			if f.Subresource == "status" {
				writers[f.Manager] = true
			}
		}
		if got := slices.Collect(maps.Keys(writers)); len(got) != 1 || (got[0] == "kube-controller-manager") != (want == "kube-controller-manager") {
			s.Errorf("the status of Job %s was written by %v, want %s", name, got, want)
		}
		if o := ended(p.job(name)); o.condition != batchv1.JobComplete {
			s.Errorf("Job %s ended as %+v", name, o)
		}
		if j, err := p.ours.Job(s.ctx, name); err != nil || j.UID == "" {
			s.Errorf("Job %s is not in the log: %+v, %v", name, j, err)
		}
	}
	p.stop()
}

// same compares how the Jobs ended under Jobledger and under the built-in controller of the version, and both with what
// the fields ask for.
func (s *server) same(ours, builtin map[string]outcome) {
	s.Helper()
	for name, o := range ours {
		b := builtin[name]
		if s.serves.dropped["successPolicy"] && b.reason == "" && o.reason == batchv1.JobReasonCompletionsReached {
			b.reason = o.reason // without that gate the built-in gives no reason for Complete; ours does
		}
		if o != b {
			s.Errorf("Job %s ended as %+v under ours, and as %+v under the built-in controller of %s", name, o, b, s.serves.version)
		}
	}
	asked := map[string]outcome{
		"plain":     {condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1},
		"indexed":   {condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 4, completed: "0-3"},
		"failing":   {condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 2},
		"suspended": {condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1},
		"halted":    {condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1},
		"per-index": {condition: batchv1.JobFailed, reason: "FailedIndexes", succeeded: 2, failed: 1, completed: "0,2", failedIndexes: "1"},
		"any-two":   {condition: batchv1.JobComplete, reason: "SuccessPolicy"},
		"replaced":  {condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1, failed: 1},
	}
	if s.serves.dropped["backoffLimitPerIndex"] {
		asked["per-index"] = outcome{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", succeeded: 2, failed: 2, completed: "0,2"}
	}
	if s.serves.dropped["successPolicy"] {
		asked["any-two"] = outcome{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 6, completed: "0-5"}
	}
	if s.serves.dropped["podReplacementPolicy"] {
		o := asked["replaced"]
		o.early = true
		asked["replaced"] = o
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if got := ours[name]; got != asked[name] {
			s.Errorf("Job %s ended as %+v, want %+v", name, got, asked[name])
		}
		said = append(said, fmt.Sprintf("%s: %+v", name, ours[name]))
	}
	s.Logf("how the Jobs ended, under ours and the built-in controller:\n%s", strings.Join(said, "\n"))
}
