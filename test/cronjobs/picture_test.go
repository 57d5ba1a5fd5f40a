package cronjobs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// picture has the lines to compare, by CronJob.
type picture map[string][]string

// compare waits until both sides are alike, at most until that time in the minute of the play, and then reports the
// differences. It reports each CronJob once.
func (p *pair) compare(until time.Duration, when string) {
	p.t.Helper()
	deadline := p.minute.Add(until)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		ours, theirs := p.picture(p.sides[0]), p.picture(p.sides[1])
		differ := differences(ours, theirs)
		if len(differ) == 0 || time.Now().After(deadline) {
			for _, name := range slices.Sorted(maps.Keys(differ)) {
				if !p.differ[name] {
					p.differ[name] = true
					p.t.Errorf("%s, %s: %s differs\n%s", p.minute.UTC().Format(time.TimeOnly), when, name, differ[name])
				}
			}
			p.t.Logf("%s, %s: %d CronJobs, %d have differed", p.minute.UTC().Format(time.TimeOnly), when, len(ours), len(p.differ))
			return
		}
		select {
		case <-tick.C:
		case <-p.ctx.Done():
			p.t.Fatal("the test was ended")
		}
	}
}

// differences returns the lines that only one side has, by CronJob.
func differences(ours, theirs picture) map[string]string {
	all := maps.Clone(ours)
	maps.Copy(all, theirs)
	differ := map[string]string{}
	for name := range all {
		var b strings.Builder
		for _, line := range ours[name] {
			if !slices.Contains(theirs[name], line) {
				fmt.Fprintf(&b, "  ours     %s\n", line)
			}
		}
		for _, line := range theirs[name] {
			if !slices.Contains(ours[name], line) {
				fmt.Fprintf(&b, "  built-in %s\n", line)
			}
		}
		if b.Len() > 0 {
			differ[name] = b.String()
		}
	}
	return differ
}

// picture returns the present state of a side, and the Jobs that ever existed.
func (p *pair) picture(s *side) picture {
	p.t.Helper()
	out := picture{}
	cronJobs, err := s.cronJobs()
	p.must(err)
	uids := []string{}
	for i := range cronJobs {
		c := &cronJobs[i]
		uids = append(uids, string(c.UID), "the UID of "+c.Name)
		var active []string
		for _, ref := range c.Status.Active {
			active = append(active, fmt.Sprintf("%s %s %s/%s", ref.APIVersion, ref.Kind, ref.Namespace, ref.Name))
		}
		out[c.Name] = append(out[c.Name],
			fmt.Sprintf("status active=%q", active),
			"status lastScheduleTime="+clock(c.Status.LastScheduleTime)+" lastSuccessfulTime="+clock(c.Status.LastSuccessfulTime),
			fmt.Sprintf("spec %s suspend=%t %s", c.Spec.Schedule, *c.Spec.Suspend, c.Spec.ConcurrencyPolicy))
	}
	named := strings.NewReplacer(uids...)
	jobs, err := s.jobs()
	p.must(err)
	for i := range jobs {
		of := jobs[i].Labels["of"]
		out[of] = append(out[of], named.Replace(p.job(&jobs[i])))
	}
	for of, lines := range p.made(s) {
		out[of] = append(out[of], lines...)
	}
	return out
}

// job describes an existing Job.
func (p *pair) job(job *batchv1.Job) string {
	ended := "runs"
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			ended = string(c.Type)
		}
	}
	text, err := json.Marshal([]any{job.Labels, job.Annotations, job.OwnerReferences, job.Spec})
	p.must(err)
	return fmt.Sprintf("job %s %s deleted=%t %s", job.Name, ended, job.DeletionTimestamp != nil, strings.ReplaceAll(string(text), string(job.UID), "its UID"))
}

// made returns the Jobs that ever existed, by CronJob. A name that was used twice occurs twice.
func (p *pair) made(s *side) picture {
	out, known := picture{}, map[string]int{}
	seen := map[string]bool{}
	for _, c := range s.history.Changes() {
		if c.Job == nil || seen[string(c.Job.UID)] {
			continue
		}
		seen[string(c.Job.UID)] = true
		known[c.Job.Name]++
		out[c.Job.Labels["of"]] = append(out[c.Job.Labels["of"]], fmt.Sprintf("made %s, UID %d of this name", c.Job.Name, known[c.Job.Name]))
	}
	return out
}

func clock(t *metav1.Time) string {
	if t == nil {
		return "unset"
	}
	return t.UTC().Format(time.DateTime)
}
