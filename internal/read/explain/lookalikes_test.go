package explain_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// lookalike is one symptom with two causes: a recorded incident, and the same records as they would be with another
// cause.
type lookalike struct {
	name     string
	log, job string // log is "delegated" or "observed", job the namespace and name of the recorded one
	pod      int    // the try that is asked about, counted from 0 among those that were deleted, or that failed
	is       string // who ended it, or a phrase of the answer
	change   func(r *events.Record)
	becomes  string
}

var lookalikes = []lookalike{
	{"drained, or deleted", "delegated", "node-lost/train", 0, "eviction API", undisrupted, "API client"},
	{"node gone, or force deleted", "delegated", "node-lost/train", 1, "node gone", func(r *events.Record) {
		undisrupted(r)
		noNodeGone(r)
	}, "API client"},
	{"node gone under the built-in, or force deleted", "observed", "node-lost/train", 1, "node gone", func(r *events.Record) {
		undisrupted(r)
		noNodeGone(r)
	}, "API client"},
	{"evicted before its node was gone, or deleted before", "delegated", "node-lost/train", 0, "eviction API", undisrupted, "API client"},
	{"evicted before its node was gone, or deleted after", "delegated", "node-lost/train", 0, "eviction API", func(r *events.Record) {
		undisrupted(r)
		if _, ok := r.Facts.(*events.NodeGone); ok {
			r.Time = r.Time.Add(-4 * time.Second)
		}
	}, "unknown"},
	{"node object deleted, or only its kubelet gone", "delegated", "node-lost/train", 1, "the object of node node-7 was deleted", nodeLost,
		"NotReady (its kubelet is not heard of)"},
	{"namespace deleted, or an API client", "delegated", "namespace-gone/tenant-import", 0, "namespace deletion", noNamespace, "API client"},
	{"namespace deleted under the built-in, or an API client", "observed", "namespace-gone/tenant-import", 0, "namespace deletion", noNamespace,
		"API client"},
	{"namespace deleted, or no right to know", "delegated", "namespace-gone/tenant-import", 0, "namespace deletion", func(r *events.Record) {
		noNamespace(r)
		if _, ok := r.Facts.(*events.ClusterWatched); ok {
			r.Facts = &events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingDenied}
		}
	}, "the right to list and watch namespaces"},
	{"namespace deleted, or another of its name long before", "delegated", "namespace-gone/tenant-import", 0, "namespace deletion", func(r *events.Record) {
		if f, ok := r.Facts.(*events.NamespaceSeen); ok && f.Deleted != 0 {
			before := *f
			before.Deleted = f.Deleted.Add(-time.Hour)
			r.Facts = &before
		}
	}, "API client"},
	{"namespace deleted with its pods, or after them", "delegated", "namespace-gone/tenant-import", 0, "namespace deletion", func(r *events.Record) {
		if f, ok := r.Facts.(*events.NamespaceSeen); ok && f.Deleted != 0 {
			later := *f
			later.Deleted = f.Deleted.Add(time.Hour)
			r.Facts = &later
		}
	}, "API client"},
	{"tainted, or deleted", "delegated", "tainted/geo-tiles", 0, "taint", undisrupted, "API client"},
	{"preempted, or deleted", "delegated", "preempted/backfill", 0, "preemption", undisrupted, "API client"},
	{"drained, or tainted", "delegated", "node-lost/train", 0, "eviction API", disruptedBy("DeletionByTaintManager"), "taint"},
	{"tainted, or a device tainted", "delegated", "tainted/geo-tiles", 0, "taint", disruptedBy("DeletionByDeviceTaintManager"), "device taint"},
	{"tainted, or disrupted for a reason of a later version", "delegated", "tainted/geo-tiles", 0, "taint", disruptedBy("DeletionByTheMoon"), "disruption"},
	{"drained, or disrupted without a reason", "delegated", "node-lost/train", 0, "eviction API", disruptedBy(""), "disruption"},
	{"tainted, or preempted", "delegated", "tainted/geo-tiles", 0, "taint", disruptedBy("PreemptionByScheduler"), "preemption"},
	{"node gone, or drained", "delegated", "node-lost/train", 1, "node gone", disruptedBy("EvictionByEvictionAPI"), "eviction API"},
	{"preempted, or ended by its node", "delegated", "preempted/backfill", 0, "preemption", disruptedBy("TerminationByKubelet"), "kubelet"},
	{"drained under the built-in, or deleted", "observed", "node-lost/train", 0, "eviction API", undisrupted, "API client"},
	{"tainted under the built-in, or deleted", "observed", "tainted/geo-tiles", 0, "taint", undisrupted, "API client"},

	{"out of memory, or node pressure", "delegated", "oom/oom", 0, "itself", pod(func(f *events.PodSeen, e *events.Evidence) {
		if f.Phase == events.PodFailed {
			e.Reason, e.Message = "Evicted", "The node was low on resource: memory."
		}
	}), "kubelet"},
	{"out of memory, or over its own limit of storage", "delegated", "oom/oom", 0, "main OOMKilled (137)", pod(func(f *events.PodSeen, e *events.Evidence) {
		if f.Phase == events.PodFailed {
			e.Reason, e.Message, e.Containers = "Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ", nil
		}
	}), "over its own limit: Pod ephemeral local storage usage exceeds the total limit of containers 1Gi"},
	{"out of memory, or over its own deadline", "delegated", "oom/oom", 0, "main OOMKilled (137)", pod(func(f *events.PodSeen, e *events.Evidence) {
		if f.Phase == events.PodFailed {
			e.Reason, e.Message, e.Containers = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline", nil
		}
	}), "the pod's own activeDeadlineSeconds passed"},
	{"out of memory, or killed by a signal", "delegated", "oom/oom", 0, "main OOMKilled (137)", ends(func(c *events.ContainerEnd) {
		if c.Reason == "OOMKilled" {
			c.Reason = "Error"
		}
	}), "137 is what SIGKILL leaves: who sent it, and why, is unknown"},
	{"out of memory, or nobody saw its end", "delegated", "oom/oom", 0, "main OOMKilled (137)", ends(func(c *events.ContainerEnd) {
		if c.Reason == "OOMKilled" {
			c.Reason, c.Message, c.Finished = "ContainerStatusUnknown", "The container could not be located when the pod was terminated", 0
		}
	}), "how main ended is unknown (ContainerStatusUnknown): its node found no trace of it"},
	{"its program wrote, or its node", "delegated", "oom/oom", 0, "main wrote", ends(func(c *events.ContainerEnd) {
		if c.Reason == "OOMKilled" {
			c.Reason, c.Message = "StartError", "failed to create containerd task: no such file or directory"
		}
	}), "its node says of main"},
	{"its program wrote, or its namespace keeps no messages", "delegated", "oom/oom", 0, "main wrote", ends(func(c *events.ContainerEnd) {
		c.Message, c.MessageWithheld = events.KeepNone.Of(c.Message)
	}), "main: message not kept in this namespace"},
	{"its program wrote, or its namespace keeps the first line", "delegated", "oom/oom", 0, "main wrote", ends(func(c *events.ContainerEnd) {
		c.Message, c.MessageWithheld = "a line", true
	}), `main wrote: "a line" (only its first line is kept in this namespace)`},
	{"out of memory, or its kubelet lost the container", "delegated", "oom/oom", 0, "itself", ends(func(c *events.ContainerEnd) {
		if c.Reason == "OOMKilled" {
			c.Reason = "ContainerStatusUnknown"
		}
	}), "unknown"},
	{"out of memory, or nobody says how it ended", "delegated", "oom/oom", 0, "itself", silent(""), "unknown"},
	{"out of memory, or without a node and with a reason", "delegated", "oom/oom", 0, "itself", func(r *events.Record) {
		silent("OutOfLuck")(r)
		pod(func(f *events.PodSeen, e *events.Evidence) { f.Scheduled, e.Node = false, "" })(r)
	}, "unknown"},
	{"failed, or stopped by a deletion", "delegated", "oom/oom", 0, "itself", pod(func(f *events.PodSeen, _ *events.Evidence) {
		if f.Phase == events.PodFailed {
			f.Deleted, f.DeletionGracePeriodSeconds = f.Created.Add(32*time.Second), grace(30)
		}
	}), "API client"},
	{"stopped by a deletion, or failed before it", "delegated", "deleted-pods/longhaul", 0, "API client", pod(func(f *events.PodSeen, _ *events.Evidence) {
		if f.Phase == events.PodFailed && f.Deleted != 0 {
			f.Finished = f.Deleted.Add(-time.Minute)
			f.DeletionGracePeriodSeconds = grace(1)
		}
	}), "itself"},

	{"stopped by us, or by somebody", "delegated", "suspended/ingest", 0, "Jobledger", decision(func(s *events.Step) {
		s.Commands = slices.DeleteFunc(slices.Clone(s.Commands), func(c events.Command) bool { return events.PodOf(c) != "" })
	}), "API client"},
	{"stopped by us for a deadline, or by somebody", "delegated", "deadline/report-daily", 0, "Jobledger", decision(func(s *events.Step) {
		s.Commands = slices.DeleteFunc(slices.Clone(s.Commands), func(c events.Command) bool { return events.PodOf(c) != "" })
	}), "API client"},
	{"deadline, or suspended", "delegated", "deadline/report-daily", 0, "the Job fails", decision(func(s *events.Step) {
		if s.Reason == "JobFailing" {
			s.Reason = "JobSuspended"
		}
	}), "the Job was suspended"},
	{"scaled down, or another pod had the index", "delegated", "autoscaled/resize-images", 0, "fewer pods were wanted", decision(func(s *events.Step) {
		if s.Reason == "FewerPodsWanted" {
			s.Reason = "DuplicateIndex"
		}
	}), "another pod had its index"},
	{"scaled down, or its index is beyond the completions", "delegated", "autoscaled/resize-images", 0, "fewer pods were wanted", elastic(),
		"completions is 1 by then, so its index is none of the Job's"},
	{"suspended under the built-in, or deleted", "observed", "suspended/ingest", 0, "Job controller", spec(func(s *events.JobSpec) {
		s.Suspend = false
	}), "API client"},

	{"deleted with the Job, or by itself", "delegated", "foreign-finalizer/restore", 0, "the Job's deletion", func(r *events.Record) {
		switch f := r.Facts.(type) {
		case *events.JobSeen:
			seen := *f
			seen.Deleted = 0
			r.Facts = &seen
		case *events.JobGone:
			r.Time = r.Time.Add(time.Hour)
		}
	}, "API client"},
	{"orphaned, or deleted with the Job", "delegated", "orphaned/reindex", 0, "the Job was deleted without its pods", func(r *events.Record) {
		if f, ok := r.Facts.(*events.PodGone); ok {
			gone := *f
			gone.Moved = false
			r.Facts = &gone
		}
	}, "the Job was deleted, and its pods after it"},
	{"no pod came under the built-in, or none was wanted", "observed", "quota/invoice", 0, "no pod came", spec(func(s *events.JobSpec) {
		s.Suspend = true
	}), "suspended"},
	{"deleted while nobody watched, or while we did", "delegated", "killed/longhaul-west", 0, "unknown", func(r *events.Record) {
		switch f := r.Facts.(type) {
		case *events.ListingStarted:
			listing := *f
			listing.LastSeen = r.Time // nothing was missed
			r.Facts = &listing
		case *events.Synced:
			r.Time = 1
		}
	}, "API client"},

	{"quota, or rights", "delegated", "quota/invoice", 0, "refused (Quota)", func(r *events.Record) {
		if f, ok := r.Facts.(*events.CommandEnded); ok && f.Class == events.RefusedQuota {
			ended := *f
			ended.Class = events.RefusedForbidden
			r.Facts = &ended
		}
	}, "refused (Forbidden)"},
	{"no image, or no node", "delegated", "image-pull/badimage", 0, "ImagePullBackOff", pod(func(f *events.PodSeen, e *events.Evidence) {
		if f.Waiting != "" {
			f.Waiting, e.Waits = "Unschedulable", nil
		}
	}), "Unschedulable"},
	{"a crash loop, or one crash", "delegated", "crash-loop/crashloop", 0, "restarted 3 times", pod(func(f *events.PodSeen, _ *events.Evidence) {
		f.Restarts = min(f.Restarts, 1)
	}), "restarted once"},
}

// TestLookalikesAreToldApart: the same symptom with another cause gets another answer, and each the right one.
func TestLookalikesAreToldApart(t *testing.T) {
	if len(lookalikes) < 25 {
		t.Errorf("%d pairs, want 25", len(lookalikes))
	}
	open := map[string]*recorded{}
	for _, dir := range logs(t) {
		open[filepath.Base(dir)] = openRecorded(t, dir)
	}
	for _, l := range lookalikes {
		t.Run(l.name, func(t *testing.T) {
			src := open[l.log]
			s := src.job(t, l.job)
			if got := asked(t, src, s, l.pod, l.is); !slices.Contains(got, l.is) {
				t.Errorf("as recorded: %q, want %q", got, l.is)
			}
			other := *src
			other.records = slices.Clone(src.records)
			for i := range other.records {
				l.change(&other.records[i])
			}
			if got := asked(t, &other, s, l.pod, l.becomes); !slices.Contains(got, l.becomes) || slices.Contains(got, l.is) {
				t.Errorf("with the other cause: %q, want %q", got, l.becomes)
			}
		})
	}
}

// asked is who ended a try; and the phrase, if the answer has it.
func asked(t *testing.T, src history.Source, s events.Stream, pod int, phrase string) []string {
	t.Helper()
	c, err := job.Read(t.Context(), src, s, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	var ended []string
	rows, _ := c.Attempts(false, 0, 0)
	for _, a := range rows {
		if a.Deleted != 0 || a.Counted == try.CountedFailed || a.EndedBy == try.ByNothing {
			ended = append(ended, string(a.EndedBy))
		}
	}
	answer := c.Answer()
	var out []string
	if pod < len(ended) {
		out = append(out, ended[pod])
	}
	for _, x := range all(&answer) {
		if strings.Contains(x.Text, phrase) && !slices.Contains(out, phrase) {
			out = append(out, phrase)
		}
	}
	return out
}

// job is the stream of the newest Job of a namespace and name.
func (r *recorded) job(t *testing.T, name string) events.Stream {
	t.Helper()
	for i := len(r.records) - 1; i >= 0; i-- {
		rec := &r.records[i]
		if rec.Kind == events.KindJobAdded && rec.Evidence.Namespace+"/"+rec.Evidence.Name == name {
			return rec.Stream
		}
	}
	t.Fatalf("the log has no Job %s", name)
	return events.Stream{}
}

func pod(change func(*events.PodSeen, *events.Evidence)) func(*events.Record) {
	return func(r *events.Record) {
		if f, ok := r.Facts.(*events.PodSeen); ok {
			seen := *f
			change(&seen, &r.Evidence)
			r.Facts = &seen
		}
	}
}

func ends(change func(*events.ContainerEnd)) func(*events.Record) {
	return pod(func(_ *events.PodSeen, e *events.Evidence) {
		e.Containers = slices.Clone(e.Containers)
		for i := range e.Containers {
			change(&e.Containers[i])
		}
	})
}

func decision(change func(*events.Step)) func(*events.Record) {
	return func(r *events.Record) {
		if f, ok := r.Facts.(*events.Decision); ok {
			d := *f
			d.Steps = slices.Clone(f.Steps)
			for i := range d.Steps {
				change(&d.Steps[i])
			}
			r.Facts = &d
		}
	}
}

func spec(change func(*events.JobSpec)) func(*events.Record) {
	return func(r *events.Record) {
		if f, ok := r.Facts.(*events.JobSpec); ok {
			s := *f
			change(&s)
			r.Facts = &s
		}
	}
}

// elastic makes a Job one of a single index, of which each pod has another, deleted for it.
func elastic() func(*events.Record) {
	index := map[string]int32{}
	return func(r *events.Record) {
		pod(func(f *events.PodSeen, e *events.Evidence) {
			if index[e.Name] == 0 {
				index[e.Name] = int32(len(index) + 1)
			}
			f.Index = index[e.Name]
		})(r)
		spec(func(s *events.JobSpec) {
			one := int32(1)
			s.Completions = &one
		})(r)
		decision(func(s *events.Step) {
			if s.Reason == "FewerPodsWanted" {
				s.Reason = "DuplicateIndex"
			}
		})(r)
	}
}

// silent takes from a pod that failed how its containers ended, and gives its status a reason.
func silent(reason string) func(*events.Record) {
	return pod(func(f *events.PodSeen, e *events.Evidence) {
		if f.Phase == events.PodFailed {
			f.Exits, e.Containers, e.Reason, e.Message = nil, nil, reason, ""
		}
	})
}

// undisrupted takes the condition DisruptionTarget from a pod.
func undisrupted(r *events.Record) {
	pod(func(f *events.PodSeen, e *events.Evidence) {
		f.Conditions = slices.DeleteFunc(slices.Clone(f.Conditions), func(c events.PodCondition) bool { return c.Type == "DisruptionTarget" })
		e.Conditions = slices.DeleteFunc(slices.Clone(e.Conditions), func(c events.ConditionText) bool { return c.Type == "DisruptionTarget" })
	})(r)
}

// disruptedBy gives the condition DisruptionTarget another reason.
func disruptedBy(reason string) func(*events.Record) {
	return pod(func(_ *events.PodSeen, e *events.Evidence) {
		e.Conditions = slices.Clone(e.Conditions)
		for i := range e.Conditions {
			if e.Conditions[i].Type == "DisruptionTarget" {
				e.Conditions[i].Reason, e.Conditions[i].Message = reason, ""
			}
		}
	})
}

func grace(seconds int64) *int64 { return &seconds }

// noNodeGone and noNamespace take what was seen of the end of a node, or of a namespace, out of a record.
func noNodeGone(r *events.Record) {
	if _, ok := r.Facts.(*events.NodeGone); ok {
		r.Facts = &events.JobResumed{}
	}
}

func noNamespace(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.NamespaceSeen:
		r.Facts = &events.JobResumed{}
	case *events.CommandEnded:
		if f.Class == events.RefusedNamespaceTerminating {
			ended := *f
			ended.Class = events.RefusedForbidden
			r.Facts = &ended
		}
	}
}

// nodeLost has a node lost where its object was deleted.
func nodeLost(r *events.Record) {
	if f, ok := r.Facts.(*events.NodeGone); ok {
		r.Facts = &events.NodeSeen{Name: f.Name, UID: f.UID, Ready: events.NodeUnheard}
	}
}
