package kube

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
)

var demo = events.JobRef{Namespace: "default", Name: "demo", UID: "uid-demo"}

func done() events.Facts { return &events.CommandEnded{Ending: events.Done} }

func refusal(c events.RefusalClass) events.Facts {
	return &events.CommandEnded{Ending: events.Refused, Class: c}
}

func status(conditions ...events.JobCondition) *events.WriteStatus {
	return &events.WriteStatus{Change: events.StatusChange{Conditions: conditions}}
}

func cond(kind, value string, words ...string) events.JobCondition {
	c := events.JobCondition{Type: kind, Status: value}
	if len(words) == 2 {
		c.Reason, c.Message = words[0], words[1]
	}
	return c
}

// J-194: each outcome leads to the Event in the contract's table, and nothing else does.
// J-059: no Event says that a namespace is being deleted.
// J-167: the Event of the finish is sent when its write is confirmed, not before.
func TestEvents(t *testing.T) {
	completed := status(cond("SuccessCriteriaMet", "True"), cond("Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods"))
	tooMany := status(cond("Complete", "True"))
	tooMany.Change.Succeeded = new(int32(3))
	for _, tt := range []struct {
		name        string
		facts       events.Facts
		command     events.Command
		completions *int32
		want        []string
	}{
		{"a pod created", done(), &events.CreatePod{}, nil, []string{"Normal SuccessfulCreate Created pod: demo-x"}},
		{
			"a create refused for a quota", refusal(events.RefusedQuota), &events.CreatePod{}, nil,
			[]string{"Warning FailedCreate Error creating: the server's words"},
		},
		{"a create refused because the namespace is terminating", refusal(events.RefusedNamespaceTerminating), &events.CreatePod{}, nil, nil},
		{"a create refused because the template changed", refusal(events.RefusedTemplate), &events.CreatePod{}, nil, nil},
		{
			"a create that nobody knows the end of", &events.CommandEnded{Ending: events.OutcomeUnknown}, &events.CreatePod{}, nil,
			[]string{"Warning FailedCreate Error creating: the server's words"},
		},
		{"a finalizer that could not be removed", refusal(events.RefusedForbidden), &events.DropFinalizer{}, nil, nil},
		{"a pod that could not be adopted", refusal(events.RefusedForbidden), &events.AdoptPod{}, nil, nil},
		{"a delete of a pod whose name another has", refusal(events.RefusedConflict), &events.DeletePod{}, nil, nil},
		{"a create that was withdrawn", &events.CommandEnded{Ending: events.Withdrawn}, &events.CreatePod{}, nil, nil},
		{"a pod deleted", done(), &events.DeletePod{}, nil, []string{"Normal SuccessfulDelete Deleted pod: demo-x"}},
		{"a delete of what was gone", refusal(events.RefusedNotFound), &events.DeletePod{}, nil, nil},
		{
			"a delete refused", refusal(events.RefusedForbidden), &events.DeletePod{}, nil,
			[]string{"Warning FailedDelete Error deleting: the server's words"},
		},
		{
			"a Workload created for a gang (J-243)", done(), &events.CreateWorkload{MinCount: 2}, nil,
			[]string{"Normal WorkloadCreated Created Workload demo-x for Job demo"},
		},
		{
			"a Workload that could not be created (J-243)", refusal(events.RefusedForbidden), &events.CreateWorkload{MinCount: 2}, nil,
			[]string{"Warning FailedWorkloadCreate Failed to create Workload for Job demo: the server's words"},
		},
		{
			"a PodGroup created (J-244)", done(), &events.CreatePodGroup{}, nil, []string{"Normal PodGroupCreated Created PodGroup demo-x for Job demo"},
		},
		{
			"a PodGroup that could not be created (J-244)", refusal(events.RefusedNameTaken), &events.CreatePodGroup{}, nil,
			[]string{"Warning FailedWorkloadCreate Failed to create PodGroup for Job demo: the server's words"},
		},
		{
			"a Workload that could not be looked for", refusal(events.RefusedForbidden), &events.FindGroup{}, nil,
			[]string{"Warning FailedWorkloadCreate Failed to look for Workload and PodGroup for Job demo: the server's words"},
		},
		{"a Workload that was looked for", done(), &events.FindGroup{}, nil, nil},
		{
			"a minCount that could not be changed", refusal(events.RefusedForbidden), &events.ResizeGroup{MinCount: 2}, nil,
			[]string{"Warning FailedWorkloadCreate Failed to change minCount of Workload and PodGroup for Job demo: the server's words"},
		},
		{
			"a Workload of which there is no request", &events.CommandEnded{
				Type: events.CommandCreateWorkload, Ending: events.Refused, Class: events.RefusedInvalid,
			}, &events.CreateWorkload{}, nil,
			[]string{"Warning FailedWorkloadCompilation Failed to compile Workload for Job demo: the server's words"},
		},
		{
			"an owner without the template that it delegates (J-242)", &events.GroupSeen{Delegated: true}, nil, nil,
			[]string{"Warning NoPodGroupTemplate Pods are made without a PodGroup: the Job's owner has no Workload with the podGroupTemplate that the Job names"},
		},
		{"an owner with it", &events.GroupSeen{Delegated: true, Workloads: 1, WorkloadUsable: true}, nil, nil, nil},
		{"a Job complete", done(), completed, nil, []string{"Normal Completed Job completed"}},
		{"as many succeeded as were wanted", done(), tooMany, new(int32(3)), []string{"Normal Completed Job completed"}},
		{
			"more succeeded than were wanted", done(), tooMany, new(int32(2)), []string{
				"Warning TooManySucceededPods Too many succeeded pods running after completion count reached",
				"Normal Completed Job completed",
			},
		},
		{
			"a Job failed", done(),
			status(cond("FailureTarget", "True"), cond("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")),
			nil, []string{"Warning BackoffLimitExceeded Job has reached the specified backoff limit"},
		},
		{"an interim condition alone", done(), status(cond("FailureTarget", "True", "BackoffLimitExceeded", "x")), nil, nil},
		{"a Job suspended", done(), status(cond("Suspended", "True")), nil, []string{"Normal Suspended Job suspended"}},
		{"a Job resumed", done(), status(cond("Suspended", "False")), nil, []string{"Normal Resumed Job resumed"}},
		{"a status that only shows progress", done(), status(), nil, nil},
		{"a status write refused", refusal(events.RefusedConflict), completed, nil, nil},
		{"a finalizer dropped", done(), &events.DropFinalizer{}, nil, nil},
		{"a pod adopted", done(), &events.AdoptPod{}, nil, nil},
		{"a pod released", done(), &events.ReleasePod{}, nil, nil},
		{
			"a Job that shows what was written", &events.JobSeen{Confirms: events.CommandID{Decided: 3}}, completed, nil,
			[]string{"Normal Completed Job completed"},
		},
		{"success was stored, and is complete in a later write", done(), status(cond("SuccessCriteriaMet", "True")), new(int32(2)), nil},
		{"a Job that shows nothing of ours", &events.JobSeen{}, completed, nil, nil},
		{"a command that is not known any more", done(), nil, nil, nil},
		{"a pod seen", &events.PodSeen{}, &events.CreatePod{}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &events.Record{
				Header:   events.Header{Sequence: 9, Time: 77},
				Facts:    tt.facts,
				Evidence: events.Evidence{Namespace: "default", Name: "demo-x", Message: "the server's words"},
			}
			var got []string
			for _, e := range Of(rec, Context{Job: demo, Command: tt.command, Completions: tt.completions}) {
				got = append(got, fmt.Sprintf("%s %s %s", e.Type, e.Reason, e.Message))
				if e.Job != demo || e.Record != 9 || e.At != 77 {
					t.Errorf("event of %+v, record %d, at %d", e.Job, e.Record, e.At)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWhatWeGaveUpIsNotTold: a create ended unknown because this controller stopped, or lost the Lease. It has our
// sentence and no message of the server, so no Event is sent. A refusal that never reached the server is told in our
// words.
func TestWhatWeGaveUpIsNotTold(t *testing.T) {
	said := events.Evidence{Namespace: "default", Name: "demo-x", Sentence: "given up: the controller stops"}
	for _, command := range []events.Command{&events.CreatePod{}, &events.DeletePod{}} {
		for _, ending := range []events.Ending{events.OutcomeUnknown, events.Withdrawn} {
			rec := &events.Record{Facts: &events.CommandEnded{Ending: ending}, Evidence: said}
			if got := Of(rec, Context{Job: demo, Command: command}); len(got) > 0 {
				t.Errorf("%T that ended %s is told: %+v", command, ending, got)
			}
		}
		rec := &events.Record{Facts: refusal(events.RefusedInvalid), Evidence: said}
		if got := Of(rec, Context{Job: demo, Command: command}); len(got) != 1 {
			t.Errorf("%T that was refused before it was sent is told %d times, want once", command, len(got))
		}
	}
}
