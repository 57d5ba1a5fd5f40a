package explain_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhatDoesNotGoOnByItself: what is said of a Job whose only pod is left in a state, so long after the pod was seen
// so; and of one moment before the bound.
func TestWhatDoesNotGoOnByItself(t *testing.T) {
	waits := func(word string) func(*events.Record, *events.PodSeen) {
		return func(r *events.Record, f *events.PodSeen) {
			placed(r, f)
			f.Waiting, f.Conditions = word, append(f.Conditions, events.PodCondition{Type: "Initialized", Status: "True"})
		}
	}
	deleting := func(grace int64, phase events.PodPhase, finalizers ...string) func(*events.Record, *events.PodSeen) {
		return func(r *events.Record, f *events.PodSeen) {
			placed(r, f)
			f.Phase, f.DeletionGracePeriodSeconds, f.Deleted = phase, &grace, r.Time.Add(time.Duration(grace)*time.Second)
			r.Evidence.Finalizers = finalizers
		}
	}
	outlives := func(code int32, names ...string) func(*events.Record, *events.PodSeen) {
		return func(r *events.Record, f *events.PodSeen) {
			placed(r, f)
			f.Phase = events.PodRunning
			r.Evidence.Containers = []events.ContainerEnd{{Name: "main", ExitCode: code, Finished: r.Time.Add(-time.Second)}}
			r.Evidence.StillRun = names
		}
	}
	ended := func(phase events.PodPhase, code int32, later time.Duration) func(*events.Record, *events.PodSeen) {
		return func(r *events.Record, f *events.PodSeen) {
			outlives(0)(r, f)
			reason := "Completed"
			if code != 0 {
				reason, f.Exits = "OOMKilled", []events.ContainerExit{{Name: "istio-proxy", Code: code}}
			}
			main := &r.Evidence.Containers[0]
			f.Phase, f.Finished = phase, main.Finished.Add(later)
			r.Evidence.Containers = append(r.Evidence.Containers, events.ContainerEnd{
				Name: "istio-proxy", ExitCode: code, Reason: reason, Finished: main.Finished.Add(later),
			})
		}
	}
	for _, row := range []struct {
		name   string
		change func(*events.Record, *events.PodSeen)
		after  time.Duration
		says   []string // the verdict, and then sentences
		not    string
	}{
		{"a node that says nothing", placed, time.Minute,
			[]string{"STUCK for 1m", "nothing is heard of ", " bound to node-3", "whose kubelet has said nothing of it: node node-3 Ready", "; the kubelet starts it when it is back"}, ""},
		{"it may say something yet", placed, time.Minute - time.Second, []string{"WAITING for "}, "whose kubelet has said nothing"},
		{"it said that it makes the containers", waits("ContainerCreating"), 2 * time.Minute, []string{"WAITING for ", "ContainerCreating since"}, "kubelet has said nothing"},
		{"it makes them for long", waits("ContainerCreating"), 5 * time.Minute, []string{"STUCK for 5m: ", "ContainerCreating", "missing: what its kubelet waits for"}, "said nothing"},
		{"init containers that may end yet", waits("PodInitializing"), 15*time.Minute - time.Second,
			[]string{"WAITING for ", "PodInitializing since", "missing: "}, "said nothing"},
		{"init containers that do not end", waits("PodInitializing"), 15 * time.Minute,
			[]string{"STUCK for 15m: ", "(PodInitializing)", "PodInitializing since", "missing: which of its init containers"}, "said nothing"},
		{"an init container that does not end, by its name", func(r *events.Record, f *events.PodSeen) {
			waits("PodInitializing")(r, f)
			r.Evidence.StillRun = []string{"migrate"}
		}, 15 * time.Minute, []string{"STUCK for 15m: ", "PodInitializing since", "held up by init container migrate"}, "missing: which"},
		{"a gate, by its name", func(r *events.Record, f *events.PodSeen) {
			f.Waiting, r.Evidence.Gates = "SchedulingGated", []string{"corp.example/budget"}
		}, time.Second, []string{"STUCK for 1s: ", "corp.example/budget (scheduling gate) holds it", "SchedulingGated by corp.example/budget since"}, ""},
		{"two gates", func(r *events.Record, f *events.PodSeen) {
			f.Waiting, r.Evidence.Gates = "SchedulingGated", []string{"a.example/x", "b.example/y"}
		}, time.Second, []string{"STUCK for 1s: ", "a.example/x, b.example/y (scheduling gates) hold it"}, ""},
		{"a pod that does not stop", deleting(20, events.PodRunning), 51 * time.Second,
			[]string{"STUCK for 51s: ", " on node-3 does not stop", "(given 20s), and its kubelet has not ended it: node node-3 Ready", "; it ends when its kubelet does so, or by a deletion by force"}, "RUNNING"},
		{"one that may yet", deleting(20, events.PodRunning), 49 * time.Second, nil, "does not stop"},
		{"one that a finalizer keeps", deleting(20, events.PodRunning, "corp.example/logs"), time.Minute, []string{"STUCK for ", "kept by finalizer corp.example/logs"}, "by force"},
		{"one that has ended is not stuck", deleting(20, events.PodFailed), 2 * time.Minute, nil, "does not stop"},
		{"a sidecar that runs on", outlives(0, "istio-proxy"), 25 * time.Minute, []string{"RUNNING for ", "main ended with 0 at ", " and istio-proxy runs on; 0 of 1 done", "the end of "}, "STUCK"},
		{"two of them", outlives(0, "istio-proxy", "logs"), time.Minute, []string{"RUNNING for ", " and istio-proxy, logs run on; 0 of 1 done"}, ""},
		{"a sidecar that held a Job that is Complete", ended(events.PodSucceeded, 0, 90*time.Second), time.Second,
			[]string{"", "main ended with 0 at ", ", istio-proxy 1m30s later"}, ""},
		{"one that ended with it", ended(events.PodSucceeded, 0, 4*time.Second), time.Second, nil, " later"},
		{"a sidecar that failed beside a main that did its work", ended(events.PodFailed, 137, 0), time.Second,
			[]string{"", "istio-proxy OOMKilled (137)", "main itself ended with 0 at "}, ""},
		{"beside a container that failed", outlives(1, "istio-proxy"), time.Minute, []string{"RUNNING for "}, "ended with 0"},
	} {
		for _, mode := range []string{"delegated", "observed"} {
			if mode == "observed" && (row.name == "a pod that does not stop" || row.name == "one that a finalizer keeps") {
				continue // the built-in controller makes another pod: there it is said first that none came
			}
			t.Run(mode+"/"+row.name, func(t *testing.T) {
				src, s, now := onePod(t, mode, row.after, row.change)
				keepJob(t, src, s, history.Point{Time: now})
				says := toldOf(t, src, s, now)
				for i, want := range row.says {
					if !strings.Contains(says, want) || i == 0 && !strings.HasPrefix(says, want) {
						t.Errorf("the answer lacks %q:\n%s", want, says)
					}
				}
				if row.not != "" && strings.Contains(says, row.not) {
					t.Errorf("the answer says %q:\n%s", row.not, says)
				}
			})
		}
	}
}

// listing is a log whose list of Jobs has one.
type listing struct {
	*recorded
	job history.Summary
}

func (l listing) Jobs(context.Context, history.JobsQuery) (history.JobsPage, error) {
	return history.JobsPage{Items: []history.Summary{l.job}}, nil
}

// toldOf is the verdict of a Job at a time, and all that is said of it. What is STUCK is in the list of trouble of
// then, and its state is not Running.
func toldOf(t *testing.T, src *recorded, s events.Stream, now events.Time) string {
	t.Helper()
	c, err := job.Read(t.Context(), src, s, history.Point{Time: now})
	if err != nil {
		t.Fatal(err)
	}
	a := c.Answer()
	said := []string{a.Verdict.Text}
	for _, x := range all(&a) {
		if len(x.Records) == 0 && !strings.Contains(x.Text, "Nothing in its spec") && !strings.Contains(x.Text, "backoff after") {
			t.Errorf("%q names no record", x.Text)
		}
		said = append(said, x.Text)
	}
	alone := listing{src, history.Summary{UID: s.ID, Namespace: c.Job.Namespace, Name: c.Job.Name, State: c.Job.State}}
	f, err := failures.Find(t.Context(), alone, failures.Query{Until: now})
	if err != nil {
		t.Fatal(err)
	}
	stuck := strings.HasPrefix(a.Verdict.Text, "STUCK")
	listed := slices.ContainsFunc(f.Items, func(x failures.Trouble) bool { return x.UID == s.ID && x.Sort == failures.SortStuck })
	if stuck != listed {
		t.Errorf("%q, and it is in the list of trouble: %t", a.Verdict.Text, listed)
	}
	if stuck && c.Job.State == history.StateRunning && !strings.Contains(a.Verdict.Text, "does not stop") {
		t.Errorf("%q, and its state is %s", a.Verdict.Text, c.Job.State)
	}
	return strings.Join(said, "\n")
}

// placed makes a pod one that was bound to a node just now.
func placed(r *events.Record, f *events.PodSeen) {
	f.Waiting, f.Scheduled, r.Evidence.Node = "", true, "node-3"
	f.Conditions = []events.PodCondition{{Type: "PodScheduled", Status: "True"}}
	r.Evidence.Conditions = nil
}

// onePod is a log in which the first sight of the only pod of a Job, which is changed, is the last record of the Job;
// now is so long after it, before anything else happens.
func onePod(t *testing.T, mode string, after time.Duration, change func(*events.Record, *events.PodSeen)) (src *recorded, s events.Stream, now events.Time) {
	t.Helper()
	const quiet = 50 * time.Second // behind the sight, in the record
	for _, dir := range logs(t) {
		if strings.HasSuffix(dir, "/"+mode) {
			src = openRecorded(t, dir)
		}
	}
	s = src.job(t, "unschedulable/gpu-train")
	var kept []events.Record
	for _, r := range src.records {
		if now != 0 && r.Stream == s {
			continue
		}
		if now == 0 {
			r.Time = r.Time.Add(quiet - after)
		}
		if f, ok := r.Facts.(*events.PodSeen); ok && r.Stream == s {
			seen := *f
			r.Facts, now = &seen, r.Time.Add(after)
			change(&r, &seen)
		}
		kept = append(kept, r)
	}
	src.records = slices.Clip(kept)
	return src, s, now
}
