package joblog

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// shape describes one kind of Jobs.
type shape struct {
	name                     string
	completions, parallelism int32
	indexed                  bool
	failures                 float64 // share of pods that fail
	endless                  bool    // pods of the Job never end
	once                     bool    // a pod that fails is not replaced
	share                    int     // how many percent of all Jobs have this shape
}

// The usual shapes (kinds of Jobs). Most Jobs are small, and most pods belong to large Jobs.
var shapes = []shape{
	{name: "report", completions: 1, parallelism: 1, share: 50},
	{name: "import", completions: 20, parallelism: 10, failures: 0.1, share: 30},
	{name: "render", completions: 100, parallelism: 25, indexed: true, share: 15},
	{name: "train", completions: 1000, parallelism: 200, indexed: true, share: 5},
}

// The shapes (kinds) of Jobs with a single pod, which Config.Single asks for.
var (
	nightly = shape{name: "nightly", completions: 1, parallelism: 1}
	checks  = shape{name: "checks", completions: 1, parallelism: 1, failures: 1, once: true}
)

func (c *cluster) draw() shape {
	if c.cfg.Single > 0 && c.rng.IntN(1000) < c.cfg.Single {
		if c.rng.IntN(10) == 0 {
			return checks
		}
		return nightly
	}
	n := c.rng.IntN(100)
	for _, s := range shapes {
		if n -= s.share; n < 0 {
			return s
		}
	}
	return shapes[0]
}

// create creates a Job as a CronJob would: Jobs of a shape have the same spec.
func (c *cluster) create() {
	c.active++
	c.showJob(c.newJob(c.draw()))
}

// wait creates a Job whose pod never ends, with a deadline after the end of the log.
func (c *cluster) wait() {
	j := c.newJob(shape{name: "service", completions: 1, parallelism: 1, endless: true})
	deadline := int64(1 << 30)
	j.spec.ActiveDeadlineSeconds = &deadline
	c.showJob(j)
}

func (c *cluster) park() {
	j := c.newJob(shape{name: "parked", completions: 1, parallelism: 1})
	j.spec.Suspend = true
	c.showJob(j)
}

func (c *cluster) newJob(s shape) *job {
	c.made++
	limit := int32(1000)
	if s.once {
		limit = 0
	}
	j := &job{
		shape: s,
		ref:   events.JobRef{Namespace: fmt.Sprintf("team-%d", c.made%20), Name: fmt.Sprintf("%s-%d", s.name, 29_000_000+c.made), UID: c.uid()},
		spec: &events.JobSpec{
			Hash: "5d41402abc4b2a76b9719d911017c592-" + s.name, Parallelism: &s.parallelism, Completions: &s.completions,
			CompletionMode: "NonIndexed", BackoffLimit: &limit, PodReplacementPolicy: "TerminatingOrFailed", RestartPolicy: "Never",
			Template: "7d793037a0760186574b0282f2f435e7-" + s.name, Redacted: "acbd18db4cc2f85cedef654fccc4a4d8-" + s.name,
		},
	}
	if s.indexed {
		j.spec.CompletionMode = "Indexed"
	}
	j.seen = events.JobSeen{
		Generation: 1, Created: c.now.Second(), Managed: true, ManagedBy: events.ManagedBy, Spec: j.spec.Hash,
		Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset},
	}
	c.jobs[j.ref.UID] = j
	return j
}

func (c *cluster) showJob(j *job) {
	j.seen.Version = c.next()
	seen := j.seen
	template := []byte(`{"spec":{"containers":[{"name":"main","image":"registry.example/team/` + j.shape.name + `:1.42.0"}],"restartPolicy":"Never"}}`)
	c.see(events.Observation{
		Job: j.ref, Facts: &seen, Spec: j.spec, Evidence: events.Evidence{Namespace: j.ref.Namespace, Name: j.ref.Name},
		Template: template, TemplateSize: len(template),
	})
}

// delete removes a Job, and its pods with it.
func (c *cluster) delete(j *job) {
	delete(c.jobs, j.ref.UID)
	for _, p := range j.pods {
		c.gone(p)
	}
	c.see(events.Observation{
		Job: j.ref, Facts: &events.JobGone{Version: c.next()},
		Evidence: events.Evidence{Namespace: j.ref.Namespace, Name: j.ref.Name},
	})
}

func (c *cluster) gone(p *pod) {
	p.gone = true
	c.see(events.Observation{
		Job: p.job.ref, Facts: &events.PodGone{UID: p.seen.UID, Version: c.next()},
		Evidence: events.Evidence{Namespace: p.job.ref.Namespace, Name: p.name},
	})
}

func (j *job) pod(uid types.UID) *pod {
	for i := len(j.pods) - 1; i >= 0; i-- {
		if j.pods[i].seen.UID == uid {
			return j.pods[i]
		}
	}
	return nil
}
