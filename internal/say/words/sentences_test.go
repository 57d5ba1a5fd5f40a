package words

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// noon is the time of the records of these tests.
var noon = events.At(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))

func detailOf(n *Names, kind events.Kind, f events.Facts, e events.Evidence) string {
	return n.Detail(&events.Record{
		Header: events.Header{Sequence: 7, Time: noon, Stream: namedJob, Kind: kind}, Facts: f, Evidence: e,
	})
}

// TestWhatIsNotThereIsNotTold: sentences where only some of a record's facts are set, and at the edge of each of its
// counts.
func TestWhatIsNotThereIsNotTold(t *testing.T) {
	zone, ten, zero, huge := "Europe/Berlin", int64(10), int64(0), int64(1<<40)
	pod := func(f events.PodSeen) *events.PodSeen {
		f.Index, f.Tracked = events.NoIndex, true
		return &f
	}
	for _, row := range []struct {
		want string
		f    events.Facts
		e    events.Evidence
	}{
		{"the server has no Workloads for us: pods are made without a group", &events.GroupSeen{Unavailable: true, Workloads: 1}, events.Evidence{}},
		{"no Workload is for this Job", &events.GroupSeen{}, events.Evidence{}},
		{"2 Workloads are for this Job: pods are made without a group", &events.GroupSeen{Workloads: 2}, events.Evidence{}},
		{"Workload w is not the Job's own: pods are made without a group", &events.GroupSeen{Workloads: 1, Workload: "w"}, events.Evidence{}},
		{"Workload w, without a PodGroup", &events.GroupSeen{Workloads: 1, Workload: "w", WorkloadUsable: true}, events.Evidence{}},
		{
			"the PodGroup of Workload w is not the Job's own: pods are made without a group",
			&events.GroupSeen{Workloads: 1, Workload: "w", WorkloadUsable: true, PodGroups: 1, PodGroup: "g"}, events.Evidence{},
		},
		{
			"Workload w, PodGroup g",
			&events.GroupSeen{Workloads: 1, Workload: "w", WorkloadUsable: true, PodGroups: 1, PodGroup: "g", PodGroupUsable: true}, events.Evidence{},
		},
		{"Job r has not ended", &events.RunSeen{Name: "r", By: "kubectl"}, events.Evidence{}},
		{"Job r is being deleted", &events.RunSeen{Name: "r", Deleted: noon}, events.Evidence{}},
		{"Job r is Failed, made by hand", &events.RunSeen{Name: "r", Result: events.ResultFailed, Deleted: noon, Manual: true}, events.Evidence{}},
		{"Job r has not ended, made by hand with kubectl", &events.RunSeen{Name: "r", Manual: true, By: "kubectl"}, events.Evidence{}},
		{"a Job's object was deleted", &events.RunGone{}, events.Evidence{}},
		{"a Job's object is gone: a complete list did not show it", &events.RunGone{Missed: true}, events.Evidence{}},
		{"its object was deleted", &events.PodGone{}, events.Evidence{}},
		{"its object is gone: a complete list did not show it", &events.PodGone{Missed: true}, events.Evidence{}},
		{`schedule "* * * * *", active=0`, &events.CronJobSeen{Schedule: "* * * * *"}, events.Evidence{}},
		{
			`schedule "* * * * *" in Europe/Berlin, Forbid, to be started within 10 s, active=0, last due 2026-03-02 12:00`,
			&events.CronJobSeen{Schedule: "* * * * *", TimeZone: &zone, Policy: "Forbid", Deadline: &ten, LastSchedule: noon}, events.Evidence{},
		},
		{
			`schedule "@every 7s", active=0, last due 2026-03-02 12:00:07`,
			&events.CronJobSeen{Schedule: "@every 7s", LastSchedule: noon.Add(7 * time.Second)}, events.Evidence{},
		},
		{
			"the stream of the log had gone back to place 7: it got records 5 to 9 again from this controller's disk",
			&events.StreamRefilled{From: 5, Through: 9, Place: 7}, events.Evidence{},
		},
		{
			"the stream of the log was gone, and was made again: " +
				"all replicas have the log up to record 9, it goes on behind that",
			&events.StreamRefilled{From: 10, Through: 9}, events.Evidence{},
		},
		{"not ours", &events.JobSeen{ManagedBy: "kueue"}, events.Evidence{}},
		{"without managedBy", &events.JobSeen{Managed: true}, events.Evidence{}},
		{
			"managed by jobledger; of CronJob c; made by kubectl", &events.JobSeen{Managed: true, ManagedBy: "jobledger"},
			events.Evidence{Origin: &events.Origin{Kind: "CronJob", Name: "c"}, Edit: &events.Edit{Manager: "kubectl"}},
		},
		{"not ours", &events.JobSeen{}, events.Evidence{Origin: &events.Origin{Name: "generated"}}},
		{"not ours; status: active 1, succeeded 0, failed 0", &events.JobSeen{Status: &events.JobStatus{Active: 1}}, events.Evidence{}},
		{"not ours; status: active 0, succeeded 1, failed 0", &events.JobSeen{Status: &events.JobStatus{Succeeded: 1}}, events.Evidence{}},
		{"not ours; status: active 0, succeeded 0, failed 1", &events.JobSeen{Status: &events.JobStatus{Failed: 1}}, events.Evidence{}},
		{
			"not ours; status: active 0, succeeded 0, failed 0, uncounted 3, Complete (CompletionsReached)",
			&events.JobSeen{Status: &events.JobStatus{
				UncountedSucceeded: []types.UID{"a"}, UncountedFailed: []types.UID{"b", "c"},
				Conditions: []events.JobCondition{
					{Type: "Suspended", Status: "False", Reason: "JobResumed"}, {Type: "Complete", Status: "True", Reason: "CompletionsReached"},
				},
			}}, events.Evidence{},
		},
		{
			"not ours; status: active 0, succeeded 0, failed 0, Failed",
			&events.JobSeen{Status: &events.JobStatus{Conditions: []events.JobCondition{{Type: "Failed", Status: "True"}}}}, events.Evidence{},
		},
		{"Pending", pod(events.PodSeen{}), events.Evidence{}},
		{"Pending, scheduled", pod(events.PodSeen{Phase: events.PodPending, Scheduled: true}), events.Evidence{}},
		{"Pending, scheduled, on n-1", pod(events.PodSeen{Phase: events.PodPending}), events.Evidence{Node: "n-1"}},
		{"Running, ready", pod(events.PodSeen{Phase: events.PodRunning, Ready: true, Scheduled: true}), events.Evidence{}},
		{
			"Pending, waits: Unschedulable: no node fits", pod(events.PodSeen{Waiting: "Unschedulable"}),
			events.Evidence{Conditions: []events.ConditionText{
				{Type: "Ready", Reason: "Unschedulable", Message: "other"}, {Type: "PodScheduled", Reason: "Unschedulable", Message: "no node fits"},
			}},
		},
		{
			"Pending, waits: ErrImagePull: no such image", pod(events.PodSeen{Waiting: "ErrImagePull"}),
			events.Evidence{Waits: []events.ContainerWait{{Reason: "PodInitializing", Message: "other"}, {Reason: "ErrImagePull", Message: "no such image"}}},
		},
		{
			"Pending, waits: PodInitializing: held up by init container migrate", pod(events.PodSeen{Waiting: "PodInitializing"}),
			events.Evidence{StillRun: []string{"migrate"}},
		},
		{"Pending, waits: ContainerCreating", pod(events.PodSeen{Waiting: "ContainerCreating"}), events.Evidence{}},
		{"Pending, admission changed nothing", pod(events.PodSeen{}), events.Evidence{Admitted: []string{""}}},
		{"Pending, admission changed it (a changed, b changed)", pod(events.PodSeen{}), events.Evidence{Admitted: []string{"a", "b"}}},
		{"Pending, admission changed it (a changed)", pod(events.PodSeen{}), events.Evidence{Admitted: []string{"a"}}},
		{"Running, being deleted, asked for at 12:00:00 at the latest", pod(events.PodSeen{Phase: events.PodRunning, Deleted: noon.Add(time.Hour)}), events.Evidence{}},
		{"Running, being deleted, asked for at 11:00:00 at the latest", pod(events.PodSeen{Phase: events.PodRunning, Deleted: noon.Add(-time.Hour)}), events.Evidence{}},
		{
			"Running, being deleted, asked for at 12:00:05, 10s to stop",
			pod(events.PodSeen{Phase: events.PodRunning, Deleted: noon.Add(15 * time.Second), DeletionGracePeriodSeconds: &ten}), events.Evidence{},
		},
		{
			"Running, being deleted, asked for at 12:00:15 at the latest",
			pod(events.PodSeen{Phase: events.PodRunning, Deleted: noon.Add(15 * time.Second), DeletionGracePeriodSeconds: &zero}), events.Evidence{},
		},
		{"Pending, Evicted: low on memory", pod(events.PodSeen{}), events.Evidence{Reason: "Evicted", Message: "low on memory"}},
		{
			"Pending, DisruptionTarget=True EvictionByEvictionAPI", pod(events.PodSeen{}),
			events.Evidence{Conditions: []events.ConditionText{{Type: "DisruptionTarget", Status: "True", Reason: "EvictionByEvictionAPI"}}},
		},
		{
			`Failed, main exit 1, init exit 2 before, main says "bad"`, pod(events.PodSeen{Phase: events.PodFailed, Exits: []events.ContainerExit{{Name: "main", Code: 1}}}),
			events.Evidence{Containers: []events.ContainerEnd{{Name: "init", ExitCode: 2}, {Name: "main", ExitCode: 1, Message: "bad"}}},
		},
		{"Complete (CompletionsReached): 1 succeeded, 2 failed", &events.JobRetired{Result: events.ResultComplete, Reason: "CompletionsReached", Succeeded: 1, Failed: 2}, events.Evidence{}},
		{"nothing is left to do", &events.JobRetired{Succeeded: 1}, events.Evidence{}},
		{"redacted, 9 bytes: not kept, or erased since", &events.JobTemplate{Size: 9}, events.Evidence{}},
		{"redacted, 9 bytes", &events.JobTemplate{Size: 9}, events.Evidence{Template: []byte("{}")}},
		{"selector of 2 bytes, successPolicy of 3 bytes", &events.JobPolicies{Selector: "{}", SuccessPolicy: "{1}"}, events.Evidence{}},
		{"", &events.JobSpec{}, events.Evidence{}},
		{"deadline 10s, suspended", &events.JobSpec{ActiveDeadlineSeconds: &ten, Suspend: true}, events.Evidence{}},
		{"nodes and namespaces are watched", &events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingOn}, events.Evidence{}},
		{
			"nodes are watched; namespaces are not watched: there is no right to list and watch them",
			&events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingDenied}, events.Evidence{},
		},
		{"node n Ready", &events.NodeSeen{Name: "n", Ready: events.NodeReady}, events.Evidence{}},
		{
			"node n NotReady, cordoned, DiskPressure, taint a:NoExecute (3 changes before were not recorded: too many in a short time) (+3 versions passed over)",
			&events.NodeSeen{Name: "n", Ready: events.NodeNotReady, Cordoned: true, Pressures: []string{"DiskPressure"}, Taints: []string{"a"}},
			events.Evidence{PassedOver: 3},
		},
		{"node n was deleted", &events.NodeGone{Name: "n"}, events.Evidence{}},
		{"node n was deleted; there is another of that name", &events.NodeGone{Name: "n", Replaced: true}, events.Evidence{}},
		{"namespace ci is being deleted", &events.NamespaceSeen{Name: "ci"}, events.Evidence{}},
		{"namespace ci is being deleted since 12:00:00", &events.NamespaceSeen{Name: "ci", Deleted: noon}, events.Evidence{}},
		{"namespace ci was deleted", &events.NamespaceSeen{Name: "ci", Deleted: noon, Gone: true}, events.Evidence{}},
		{
			"namespace ci is over its budget of log: from now on not every version of its objects is recorded",
			&events.PassedOver{Open: true, Since: noon}, events.Evidence{Namespace: "ci"},
		},
		{
			"what is in no namespace is over its budget of log: since 12:00:00 nothing was passed over that is not counted elsewhere",
			&events.PassedOver{Since: noon}, events.Evidence{},
		},
		{
			"namespace ci is over its budget of log: since 12:00:00 1 version was passed over; counting goes on",
			&events.PassedOver{Since: noon, Versions: 1, Open: true}, events.Evidence{Namespace: "ci"},
		},
		{
			"namespace ci is over its budget of log: since 12:00:00 2 versions were passed over",
			&events.PassedOver{Since: noon, Versions: 2}, events.Evidence{Namespace: "ci"},
		},
		{
			"namespace ci is over its budget of log: since 12:00:00 2 pods and 1 job came and went without a record (3 versions were seen)",
			&events.PassedOver{Since: noon, Versions: 3, Went: []events.ObjectsWent{{Resource: events.ObjectPod, Objects: 2}, {Resource: events.ObjectJob, Objects: 1}}},
			events.Evidence{Namespace: "ci"},
		},
		{"its facts were erased", &events.Erased{}, events.Evidence{}},
		{"records before 5 are no longer kept", &events.Pruned{First: 5, Reason: events.PruneSize}, events.Evidence{}},
		{
			"records before 5 are no longer kept: 2 to 4 go, of 2026-03-02T12:00:00Z to 2026-03-02T12:00:01Z: they are too old",
			&events.Pruned{First: 5, From: 2, FromTime: noon, ThroughTime: noon.Add(time.Second), Reason: events.PruneAge}, events.Evidence{},
		},
		{"jobledger v, --manage=delegated, rules 3", &events.ControllerStarted{Version: "v", RulesVersion: 3, Settings: events.DefaultSettings()}, events.Evidence{}},
		{
			"jobledger v, --manage=delegated, rules 3, key k",
			&events.ControllerStarted{Version: "v", RulesVersion: 3, Key: "k", Settings: events.DefaultSettings()}, events.Evidence{},
		},
		{
			"jobledger v, --manage=delegated, rules 3, specs and templates are hashed with key k from here on, with j before",
			&events.ControllerStarted{Version: "v", RulesVersion: 3, Key: "k", KeyBefore: "j", Settings: events.DefaultSettings()}, events.Evidence{},
		},
		{"epoch 4 begins", &events.EpochChanged{Epoch: 4, Rewind: events.Rewind{Object: "u", Known: 9}}, events.Evidence{}},
		{
			"epoch 2 begins: the cluster was restored from a backup: object u of jobs had gone at revision 90 and is there again at 90; everything is listed again",
			&events.EpochChanged{Epoch: 2, Reason: events.EpochClusterRewound, Rewind: events.Rewind{Resource: events.Jobs, Known: 90, Found: 90, Object: "u"}},
			events.Evidence{},
		},
		{
			"epoch 2 begins: the cluster was restored from a backup: jobs went back from revision 90 to 95; everything is listed again",
			&events.EpochChanged{Epoch: 2, Reason: events.EpochClusterRewound, Rewind: events.Rewind{Resource: events.Jobs, Known: 90, Found: 95}}, events.Evidence{},
		},
		{
			"Failed, other exit 3, main exit 4",
			pod(events.PodSeen{Phase: events.PodFailed, Exits: []events.ContainerExit{{Name: "other", Code: 3}, {Name: "main", Code: 4}}}),
			events.Evidence{Containers: []events.ContainerEnd{{Name: "main", ExitCode: 3, Reason: "OOMKilled"}}},
		},
		{
			"Running, restarted 2 times, init exit 0 (Unusual) before",
			pod(events.PodSeen{Phase: events.PodRunning, Restarts: 2}),
			events.Evidence{Containers: []events.ContainerEnd{{Name: "init", Reason: "Unusual"}, {Name: "main", Reason: "Completed"}}},
		},
		{
			"Pending, waits: Unschedulable: no node", pod(events.PodSeen{Waiting: "Unschedulable"}),
			events.Evidence{Conditions: []events.ConditionText{
				{Type: "PodScheduled", Reason: "Other", Message: "another"}, {Type: "Ready", Reason: "Unschedulable", Message: "not this"},
				{Type: "PodScheduled", Reason: "Unschedulable", Message: "no node"},
			}},
		},
		{"its facts were erased (+1 version passed over)", &events.Erased{}, events.Evidence{PassedOver: 1}},
		{"its facts were erased (+2 versions passed over)", &events.Erased{}, events.Evidence{PassedOver: 2}},
		{"3 bytes of a kind that this program does not know", &events.Unknown{Bytes: []byte("abc")}, events.Evidence{}},
		{"l no longer leads", &events.LeadershipChanged{Identity: "l"}, events.Evidence{}},
		{"seen by words", &events.RivalFound{}, events.Evidence{Sentence: "seen by words"}},
		{"another controller runs the same Jobs: 1 acts of it were seen", &events.RivalFound{Acts: make([]events.RivalAct, 1)}, events.Evidence{}},
		{"relist: jobs are listed", &events.ListingStarted{Reason: events.ListingRelisted, Resources: []events.Resource{events.Jobs}}, events.Evidence{}},
		{
			"relist: jobs are listed, watched until 11:59:59.000",
			&events.ListingStarted{Reason: events.ListingRelisted, Resources: []events.Resource{events.Jobs}, LastSeen: noon.Add(-time.Second)}, events.Evidence{},
		},
		{
			"relist: jobs are listed, watched until 11:59:58.000 (2s before)",
			&events.ListingStarted{Reason: events.ListingRelisted, Resources: []events.Resource{events.Jobs}, LastSeen: noon.Add(-2 * time.Second)}, events.Evidence{},
		},
		{"jobs as of 5", &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{5}}, events.Evidence{}},
	} {
		kind := events.KindPodAdded
		if _, job := row.f.(*events.JobSeen); job {
			kind = events.KindJobAdded
		}
		if got := detailOf(&Names{}, kind, row.f, row.e); got != row.want {
			t.Errorf("%T is told as\n%s\nwant\n%s", row.f, got, row.want)
		}
	}
	if got := asked(&events.Record{Header: events.Header{Time: noon}}, &events.PodSeen{Deleted: noon, DeletionGracePeriodSeconds: &huge}, Zone{}); got == "" {
		t.Error("a deletion that may take for ever is not told")
	}
}
