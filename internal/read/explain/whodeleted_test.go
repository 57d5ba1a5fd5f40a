package explain_test

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// watching says whether namespaces are watched.
func (l *staged) watching(clock string, namespaces events.Watching) {
	l.add(clock, events.Controller, events.KindClusterWatched, &events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: namespaces})
}

// unwatched is a time in which nobody watched.
func (l *cronSeen) unwatched(from, until string, found func()) {
	all := []events.Resource{events.Jobs, events.Pods}
	l.add(until, events.Controller, events.KindListingStarted, &events.ListingStarted{
		Reason: events.ListingRelisted, Resources: all, LastSeen: cronClock(from), LastVersions: []uint64{1, 1},
	})
	found()
	l.add(until, events.Controller, events.KindSynced, &events.Synced{Resources: all, Versions: []uint64{2000, 2000}})
}

// TestWhoDeletedAJob: a request of an API client is what is left where everything else would be in the log.
func TestWhoDeletedAJob(t *testing.T) {
	for mode, ours := range map[string]bool{"ours": true, "observed": false} {
		for _, row := range []struct {
			name      string
			goes      func(l *staged)
			says, not []string
		}{
			{"namespaces are watched", func(l *staged) {
				l.watching("08:59:30", events.WatchingOn)
				l.job("09:00:00", nil)
				l.tell("09:00:30", events.KindJobDeleted, &events.JobGone{Version: 900}, demoObject)
			}, []string{"by an API client (which one is unknown)"}, []string{"namespace"}},
			{"namespaces are not watched", func(l *staged) {
				l.watching("08:59:30", events.WatchingOff)
				l.job("09:00:00", nil)
				l.tell("09:00:30", events.KindJobDeleted, &events.JobGone{Version: 900}, demoObject)
			}, []string{"by an API client or with its namespace (namespaces are not watched; which is unknown)"}, nil},
			{"nobody watched", func(l *staged) {
				l.watching("08:59:30", events.WatchingOn)
				l.job("09:00:00", nil)
				l.unwatched("09:00:10", "09:10:00", func() {
					l.tell("09:10:00", events.KindJobDeleted, &events.JobGone{Version: 900, Missed: true}, demoObject)
				})
			}, []string{"when and by whom is unknown, as it was not watched from 09:00:10 on"}, []string{"by an API client", "DELETED after 10m"}},
		} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				l := stage(t, ours, nil)
				row.goes(l)
				hold(t, l.said(), row.says, row.not)
			})
		}
	}
}

// running is a log with a Job of another controller and its pod, which runs since 09:00:02.
func running(t *testing.T, managedBy string) *staged {
	l := stage(t, false, nil)
	l.watching("08:59:30", events.WatchingOn)
	by := func(f *events.JobSeen) { f.ManagedBy = managedBy }
	l.jobWith("09:00:00", nil, by)
	l.jobWith("09:00:01", &events.JobStatus{StartTime: demoCreated, Active: 1}, by)
	l.pod("09:00:02", func(*events.PodSeen, *events.Evidence) {})
	return l
}

func (l *staged) podDeleted(clock string) {
	l.pod(clock, func(p *events.PodSeen, _ *events.Evidence) {
		p.Deleted, p.DeletionGracePeriodSeconds = cronClock(clock).Add(30*time.Second), new(int64(30))
	})
}

// TestAPodThatAnUnknownControllerMayHaveDeleted: a Job of a controller whose rules nobody knows is suspended, and its
// pod is deleted.
func TestAPodThatAnUnknownControllerMayHaveDeleted(t *testing.T) {
	for _, row := range []struct {
		managedBy string
		says      []string
	}{
		{"", []string{"deleted by the Job's controller (inferred from its rules): the Job was suspended"}},
		{"example.com/scheduler", []string{"deleted by an API client, or by the Job's own controller", "; which is unknown"}},
	} {
		managedBy := row.managedBy
		l := running(t, managedBy)
		at := l.tell("09:00:20", events.KindSpecStored, &events.JobSpec{
			Hash: "h2", BackoffLimit: new(int32(6)), Completions: new(int32(1)), Parallelism: new(int32(1)), RestartPolicy: "Never", Template: "t", Suspend: true,
		}, demoObject)
		l.version = 3
		l.jobWith("09:00:20", nil, func(f *events.JobSeen) { f.ManagedBy, f.Spec, f.SpecAt, f.Generation = managedBy, "h2", at, 2 })
		l.version = 1010
		l.podDeleted("09:00:21")
		hold(t, l.said(), row.says, nil)
	}
}

// TestWhatIsNotRecordedRulesOutNothing: versions of a pod that were not recorded may have shown its eviction; pods that
// came while the namespace was over its budget have no record.
func TestWhatIsNotRecordedRulesOutNothing(t *testing.T) {
	l := running(t, "")
	l.addWith("09:00:30", demo, events.KindPodChanged, &events.PodSeen{
		UID: "uid-x1", Owner: "uid-demo", Version: 1100, Created: cronClock("09:00:01"), Phase: events.PodRunning, Scheduled: true, Tracked: true, Selected: true,
		Index: events.NoIndex, Deleted: cronClock("09:01:00"), DeletionGracePeriodSeconds: new(int64(30)),
	}, events.Evidence{Namespace: "batch", Name: "demo-x1", Node: "node-1", PassedOver: 7})
	hold(t, l.said(), []string{"deleted while it ran", "by whom is unknown", "missing: the 7 versions"}, []string{"by an API client", "not by eviction"})

	l = stage(t, false, nil)
	l.job("09:00:00", nil)
	l.job("09:00:01", &events.JobStatus{StartTime: demoCreated})
	l.addWith("09:05:00", events.Controller, events.KindPassedOver, &events.PassedOver{Since: cronClock("09:00:00"), Versions: 70, Open: true},
		events.Evidence{Namespace: "batch"})
	l.pass("09:06:00")
	hold(t, l.said(), nil, []string{"no pod came"})
}

// TestAJobThatFailsWithoutPods: no pod is being stopped where there is none.
func TestAJobThatFailsWithoutPods(t *testing.T) {
	l := stage(t, true, nil)
	l.job("09:00:00", nil)
	s := madeUp("Failed", "BackoffLimitExceeded")
	s.Conditions = s.Conditions[:1]
	l.job("09:00:02", s)
	hold(t, l.said(), []string{"VERDICT FAILING"}, []string{"pods are being stopped"})
}
