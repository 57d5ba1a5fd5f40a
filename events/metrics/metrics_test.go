package metrics

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

func plain() *events.JobSpec {
	return &events.JobSpec{Parallelism: new(int32(2)), Completions: new(int32(2))}
}

func indexedJob(limit *int32) *events.JobSpec {
	return &events.JobSpec{CompletionMode: "Indexed", Completions: new(int32(10)), BackoffLimitPerIndex: limit}
}

// Rows of J-196 and J-197: which decisions are syncs, with which action and result.
// O-070: labels have the values of the built-in's.
func TestSyncs(t *testing.T) {
	const syncs = "job_syncs_total"
	first := syncs + `{action="tracking",completion_mode="NonIndexed",result="success"} 1` // the Job was added
	for _, tt := range []struct {
		name string
		run  func(s *script)
		want []string
	}{
		{"J-197 the decision about a new Job is one, though it asks for nothing", func(*script) {}, []string{first}},
		{"J-196 a decision to create pods ends with its last command", func(s *script) {
			at := s.decide(&events.CreatePod{Ordinal: 1}, &events.CreatePod{Ordinal: 2})
			s.ended(at, 0, events.Done)
			s.expect("job_syncs", syncs+`{action="tracking",completion_mode="NonIndexed",result="success"} 2`)
			s.ended(at, 1, events.Done)
		}, []string{
			syncs + `{action="pods_created",completion_mode="NonIndexed",result="success"} 1`,
			syncs + `{action="tracking",completion_mode="NonIndexed",result="success"} 3`,
		}},
		{"J-196 one of whose commands is refused is an error", func(s *script) {
			at := s.decide(&events.CreatePod{Ordinal: 1}, &events.CreatePod{Ordinal: 2})
			s.ended(at, 0, events.Refused, class(events.RefusedQuota))
			s.ended(at, 1, events.Done)
		}, []string{
			syncs + `{action="pods_created",completion_mode="NonIndexed",result="error"} 1`,
			syncs + `{action="tracking",completion_mode="NonIndexed",result="success"} 3`,
		}},
		{"J-196 a pod that is gone already when it is to be deleted is no error", func(s *script) {
			s.ended(s.decide(&events.DeletePod{Pod: "p"}), 0, events.Refused, class(events.RefusedNotFound))
		}, []string{
			syncs + `{action="pods_deleted",completion_mode="NonIndexed",result="success"} 1`,
			syncs + `{action="tracking",completion_mode="NonIndexed",result="success"} 2`,
		}},
		{"J-196 pods of a Job that ends are not managed", func(s *script) {
			s.status(events.StatusChange{Conditions: []events.JobCondition{condition(status.FailureTarget, "X")}})
			s.ended(s.decide(&events.DeletePod{Pod: "p"}), 0, events.Done)
		}, []string{
			// The two writes, and two that asked for nothing after each command had ended.
			syncs + `{action="reconciling",completion_mode="NonIndexed",result="success"} 4`, first,
		}},
		{"J-196 of a suspended Job pods are deleted, if there are any", func(s *script) {
			suspended := plain()
			suspended.Hash, suspended.Suspend = "s", true
			s.add(demoStream, events.KindSpecStored, suspended)
			s.job(events.JobSeen{Spec: "s"})
		}, []string{
			syncs + `{action="pods_deleted",completion_mode="NonIndexed",result="success"} 1`, first,
		}},
		{"J-197 a finished Job is skipped", func(s *script) {
			s.status(events.StatusChange{Conditions: []events.JobCondition{condition(status.Complete, "CompletionsReached")}})
			s.ended(s.decide(&events.DropFinalizer{Pod: "p"}), 0, events.Done)
		}, []string{
			syncs + `{action="reconciling",completion_mode="NonIndexed",result="success"} 1`, first,
		}},
		{"J-197 while the cluster is listed nothing is decided", func(s *script) {
			s.add(events.Controller, events.KindListingStarted, &events.ListingStarted{
				Reason: events.ListingRelisted, Resources: []events.Resource{events.Pods}, LastVersions: []uint64{1},
			})
			s.pod("p", events.PodRunning)
		}, []string{first}},
		{"J-197 a Job of an unknown completion mode is skipped", func(s *script) {
			odd := plain()
			odd.Hash, odd.CompletionMode = "odd", "Odd"
			s.add(demoStream, events.KindSpecStored, odd)
			s.job(events.JobSeen{Spec: "odd"})
		}, []string{first}},
		{"J-197 pods that nobody owns are nobody's sync", func(s *script) {
			s.add(events.NamespaceStream("default"), events.KindPodAdded, &events.PodSeen{UID: "p", Tracked: true})
			s.end()
		}, []string{first}},
		{"a command that is withdrawn ends with that", func(s *script) {
			at := s.decide(&events.CreatePod{Ordinal: 1})
			s.decide(&events.Withdraw{Command: events.CommandID{Decided: at}})
			s.pod("p", events.PodRunning)
		}, []string{
			syncs + `{action="pods_created",completion_mode="NonIndexed",result="success"} 1`,
			syncs + `{action="tracking",completion_mode="NonIndexed",result="success"} 3`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, plain())
			tt.run(s)
			s.expect("job_syncs", tt.want...)
		})
	}
}

// J-196: a sync lasts from its decision to the end of its last command.
func TestSyncDuration(t *testing.T) {
	s := newScript(t, plain())
	at := s.decide(&events.CreatePod{Ordinal: 1}, &events.CreatePod{Ordinal: 2})
	s.pass(time.Second)
	s.ended(at, 1, events.Done)
	s.pass(2 * time.Second)
	s.ended(at, 0, events.Done)
	s.expect("job_sync_duration",
		`job_sync_duration_seconds{action="pods_created",completion_mode="NonIndexed",result="success"} 1 in 3s`,
		`job_sync_duration_seconds{action="tracking",completion_mode="NonIndexed",result="success"} 3 in 0s`)
}

// Rows of J-198: a Job is finished once, when its terminal condition is stored.
func TestJobsFinished(t *testing.T) {
	complete := []events.JobCondition{
		condition(status.SuccessCriteriaMet, "SuccessPolicy"), condition(status.Complete, "SuccessPolicy"),
	}
	fail := []events.JobCondition{condition(status.Failed, "BackoffLimitExceeded")}
	succeededOnce := []string{`jobs_finished_total{completion_mode="NonIndexed",reason="SuccessPolicy",result="succeeded"} 1`}
	for _, tt := range []struct {
		name string
		run  func(s *script)
		want []string
	}{
		{"J-198 not when it is decided", func(s *script) {
			s.decide(&events.WriteStatus{Change: events.StatusChange{Conditions: complete}})
		}, nil},
		{"J-198 when it is stored", func(s *script) {
			s.status(events.StatusChange{Conditions: complete})
		}, succeededOnce},
		{"J-198 with the reason of the failure", func(s *script) {
			s.status(events.StatusChange{Conditions: fail})
		}, []string{`jobs_finished_total{completion_mode="NonIndexed",reason="BackoffLimitExceeded",result="failed"} 1`}},
		{"J-198 once, though the Job shows it before the answer comes", func(s *script) {
			at := s.decide(&events.WriteStatus{Change: events.StatusChange{Conditions: complete}})
			s.job(events.JobSeen{Version: 1000, Confirms: events.CommandID{Decided: at}})
			s.ended(at, 0, events.Done, func(f *events.CommandEnded) { f.Version = 1000 })
		}, succeededOnce},
		{"J-198 though nobody heard how the write ended", func(s *script) {
			at := s.decide(&events.WriteStatus{Change: events.StatusChange{Conditions: complete}})
			s.ended(at, 0, events.OutcomeUnknown)
			s.job(events.JobSeen{Status: &events.JobStatus{Conditions: complete}})
		}, succeededOnce},
		{"J-198 not when the write was refused", func(s *script) {
			at := s.decide(&events.WriteStatus{Change: events.StatusChange{Conditions: complete}})
			s.ended(at, 0, events.Refused, class(events.RefusedConflict))
		}, nil},
		{"J-198 not by its interim condition", func(s *script) {
			s.status(events.StatusChange{Conditions: complete[:1]})
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, plain())
			tt.run(s)
			s.expect("jobs_finished", tt.want...)
		})
	}
}

// Objects that the listing of a start finds were there before. J-198, J-199 and J-202 count later changes only.
func TestHistoryIsNotCounted(t *testing.T) {
	s := emptyScript(t)
	spec := indexedJob(nil)
	spec.Hash = "h"
	at := s.add(demoStream, events.KindSpecStored, spec)
	s.add(demoStream, events.KindJobAdded, &events.JobSeen{
		Version: 1, Managed: true, Spec: "h", SpecAt: at, Status: &events.JobStatus{Succeeded: 4, Failed: 2, CompletedIndexes: "0-3"},
	})
	s.end()
	s.job(events.JobSeen{Status: &events.JobStatus{Succeeded: 5, Failed: 2, CompletedIndexes: "0-4"}})
	s.expect("job_pods_finished")
	s.expect("job_syncs")
	s.listed()
	s.status(events.StatusChange{Succeeded: new(int32(7)), CompleteIndexes: "5,6"})
	s.expect("job_pods_finished",
		`job_pods_finished_total{completion_mode="Indexed",result="failed"} 0`,
		`job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2`)
}

// Rows of J-199 and J-202: pods and indexes are finished when a counter of the stored status has grown.
func TestPodsAndIndexesFinished(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec *events.JobSpec
		run  func(s *script)
		want []string
	}{
		{"J-199 growth of both counters", plain(), func(s *script) {
			s.status(events.StatusChange{Succeeded: new(int32(2)), Failed: new(int32(1))})
			s.status(events.StatusChange{Succeeded: new(int32(3))})
		}, []string{
			`job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 1`,
			`job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 3`,
		}},
		{"J-199 not while the pods are only named as uncounted", plain(), func(s *script) {
			s.status(events.StatusChange{AddSucceeded: []types.UID{"a"}, AddFailed: []types.UID{"b"}})
		}, []string{
			`job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 0`,
			`job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 0`,
		}},
		{"J-202 the series exists from the first write on, and only of Indexed Jobs", indexedJob(nil), func(s *script) {
			s.status(events.StatusChange{Active: new(int32(2))})
		}, []string{
			`job_finished_indexes_total{backoffLimit="global",status="succeeded"} 0`,
			`job_pods_finished_total{completion_mode="Indexed",result="failed"} 0`,
			`job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 0`,
		}},
		{"J-199, J-202 completed indexes, though others are cut off in the same write", indexedJob(nil), func(s *script) {
			s.status(events.StatusChange{Succeeded: new(int32(2)), CompleteIndexes: "0,9"})
			s.status(events.StatusChange{Succeeded: new(int32(2)), CompleteIndexes: "1", TrimTo: new(int32(5))})
		}, []string{
			`job_finished_indexes_total{backoffLimit="global",status="succeeded"} 3`,
			`job_pods_finished_total{completion_mode="Indexed",result="failed"} 0`,
			`job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 3`,
		}},
		{"J-202 failed indexes of a Job with a limit for each", indexedJob(new(int32(0))), func(s *script) {
			s.status(events.StatusChange{Failed: new(int32(3)), FailIndexes: "0-2"})
		}, []string{
			`job_finished_indexes_total{backoffLimit="perIndex",status="failed"} 3`,
			`job_finished_indexes_total{backoffLimit="perIndex",status="succeeded"} 0`,
			`job_pods_finished_total{completion_mode="Indexed",result="failed"} 3`,
			`job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 0`,
		}},
		{"J-202 failed indexes of a Job without such a limit are none", indexedJob(nil), func(s *script) {
			s.status(events.StatusChange{Failed: new(int32(1)), FailIndexes: "0"})
		}, []string{
			`job_finished_indexes_total{backoffLimit="global",status="succeeded"} 0`,
			`job_pods_finished_total{completion_mode="Indexed",result="failed"} 1`,
			`job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 0`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, tt.spec)
			tt.run(s)
			got := slices.Concat(lines(t, s.metrics, "job_finished_indexes"), lines(t, s.metrics, "job_pods_finished"))
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Rows of J-203: pods created, by why, and creations refused; a refused one is not counted as succeeded, too.
func TestPodsCreated(t *testing.T) {
	replace := plain()
	replace.PodReplacementPolicy = "Failed"
	create := func(s *script) { s.ended(s.decide(&events.CreatePod{Ordinal: 1}), 0, events.Done) }
	for _, tt := range []struct {
		name string
		spec *events.JobSpec
		run  func(s *script)
		want []string
	}{
		{"J-203 the first pod is new", plain(), create, []string{`job_pods_creation_total{reason="new",status="succeeded"} 1`}},
		{"J-203 [S] a refused creation has failed, and no more", plain(), func(s *script) {
			s.ended(s.decide(&events.CreatePod{Ordinal: 1}), 0, events.Refused, class(events.RefusedQuota))
		}, []string{`job_pods_creation_total{reason="new",status="failed"} 1`}},
		{"J-203 a create that stands refused fails each time that it is asked for, recorded or not, and succeeds in the end", plain(), func(s *script) {
			at := s.decide(&events.CreatePod{Ordinal: 1}, &events.CreatePod{Ordinal: 2})
			stands := events.CommandID{Decided: at}
			s.metrics.Refused(stands) // and has a record
			s.ended(at, 0, events.Refused, class(events.RefusedQuota))
			s.ended(at, 1, events.Refused, class(events.RefusedQuota)) // this one does not stand
			for range 5 {
				s.metrics.Refused(stands)
			}
			s.ended(at, 0, events.Refused, class(events.RefusedQuota)) // the newest of them
			s.ended(at, 0, events.Done)
			s.metrics.Refused(stands) // which is over
		}, []string{
			`job_pods_creation_total{reason="new",status="failed"} 7`, `job_pods_creation_total{reason="new",status="succeeded"} 1`,
		}},
		{"J-203 one that was given up unsent is nothing", plain(), func(s *script) {
			s.ended(s.decide(&events.CreatePod{Ordinal: 1}), 0, events.Withdrawn)
		}, nil},
		{"J-203 a replacement of a pod that failed", plain(), func(s *script) {
			s.pod("p", events.PodFailed)
			create(s)
		}, []string{`job_pods_creation_total{reason="recreate_terminating_or_failed",status="succeeded"} 1`}},
		{"J-203 a pod beside one that terminates", plain(), func(s *script) {
			s.pod("p", events.PodRunning, leaving, untracked)
			create(s)
		}, []string{`job_pods_creation_total{reason="recreate_terminating_or_failed",status="succeeded"} 1`}},
		{"J-203 a pod after one that terminated uncounted is new", plain(), func(s *script) {
			s.pod("p", events.PodRunning, leaving, untracked)
			s.add(demoStream, events.KindPodDeleted, &events.PodGone{UID: "p"})
			s.end()
			create(s)
		}, []string{`job_pods_creation_total{reason="new",status="succeeded"} 1`}},
		{"J-203 a replacement of a Job that replaces only failed pods", replace, func(s *script) {
			s.pod("p", events.PodFailed)
			create(s)
		}, []string{`job_pods_creation_total{reason="recreate_failed",status="succeeded"} 1`}},
		{"J-203 one of unknown end counts when its pod is seen", plain(), func(s *script) {
			s.ended(s.decide(&events.CreatePod{Ordinal: 1}), 0, events.OutcomeUnknown)
			s.expect("job_pods_creation")
			s.pod("p", events.PodPending, func(p *events.PodSeen) { p.Ordinal = 1 })
		}, []string{`job_pods_creation_total{reason="new",status="succeeded"} 1`}},
		{"J-203 one of unknown end that is asked again counts once", plain(), func(s *script) {
			s.ended(s.decide(&events.CreatePod{Ordinal: 1}), 0, events.OutcomeUnknown)
			s.ended(s.decide(&events.CreatePod{Ordinal: 1, Again: true}), 0, events.Done)
			s.pod("p", events.PodPending, func(p *events.PodSeen) { p.Ordinal = 1 })
		}, []string{`job_pods_creation_total{reason="new",status="succeeded"} 1`}},
		{"J-203 one of unknown end that is seen while it is asked again counts once", plain(), func(s *script) {
			s.ended(s.decide(&events.CreatePod{Ordinal: 1}), 0, events.OutcomeUnknown)
			again := s.decide(&events.CreatePod{Ordinal: 1, Again: true})
			s.pod("p", events.PodPending, func(p *events.PodSeen) { p.Ordinal = 1 })
			s.ended(again, 0, events.Done)
		}, []string{`job_pods_creation_total{reason="new",status="succeeded"} 1`}},
		{"J-203 one that is refused when its pod has been seen stands for nothing", plain(), func(s *script) {
			s.ended(s.decide(&events.CreatePod{Ordinal: 1}), 0, events.OutcomeUnknown)
			again := s.decide(&events.CreatePod{Ordinal: 1, Again: true})
			s.pod("p", events.PodPending, func(p *events.PodSeen) { p.Ordinal = 1 })
			s.ended(again, 0, events.Refused, class(events.RefusedQuota))
			s.metrics.Refused(events.CommandID{Decided: again})
			refusedThenMade(s, 2)
		}, []string{
			`job_pods_creation_total{reason="new",status="failed"} 2`, `job_pods_creation_total{reason="new",status="succeeded"} 2`,
		}},
		{"J-203 one that stands refused, and whose pod is seen, stands no more", plain(), func(s *script) {
			first := s.decide(&events.CreatePod{Ordinal: 1})
			s.ended(first, 0, events.Refused, class(events.RefusedQuota))
			s.pod("p", events.PodPending, func(p *events.PodSeen) { p.Ordinal = 1 })
			s.metrics.Refused(events.CommandID{Decided: first})
			refusedThenMade(s, 2)
		}, []string{
			`job_pods_creation_total{reason="new",status="failed"} 3`, `job_pods_creation_total{reason="new",status="succeeded"} 2`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, tt.spec)
			tt.run(s)
			s.expect("job_pods_creation", tt.want...)
		})
	}
}

// refusedThenMade adds a create that is refused twice and then carried out. The second try has no record.
func refusedThenMade(s *script, ordinal uint64) {
	s.t.Helper()
	at := s.decide(&events.CreatePod{Ordinal: ordinal})
	s.ended(at, 0, events.Refused, class(events.RefusedQuota))
	s.metrics.Refused(events.CommandID{Decided: at})
	s.ended(at, 0, events.Done)
}

// Rows of J-200: a failed pod that a rule of the podFailurePolicy matched, when its finalizer goes.
func TestPodFailurePolicy(t *testing.T) {
	spec := plain()
	spec.PodReplacementPolicy = "Failed"
	spec.PodFailurePolicy = `{"rules":[` +
		`{"action":"Ignore","onExitCodes":{"operator":"In","values":[1]}},` +
		`{"action":"Count","onExitCodes":{"operator":"In","values":[2]}},` +
		`{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}}]}`
	s := newScript(t, spec)
	for uid, code := range map[types.UID]int32{"a": 1, "b": 1, "c": 2, "d": 3, "e": 4} {
		s.pod(uid, events.PodRunning)
		s.pod(uid, events.PodFailed, exits(code))
	}
	s.pod("fine", events.PodSucceeded)
	s.expect("pod_failures")
	for _, uid := range []types.UID{"a", "b", "c", "d", "e", "fine"} {
		at := s.decide(&events.DropFinalizer{Pod: uid})
		s.ended(at, 0, events.Done)
		s.pod(uid, events.PodFailed, untracked)
	}
	s.expect("pod_failures",
		`pod_failures_handled_by_failure_policy_total{action="Count"} 1`,
		`pod_failures_handled_by_failure_policy_total{action="FailJob"} 1`,
		`pod_failures_handled_by_failure_policy_total{action="Ignore"} 2`)

	// The pod is counted once, whichever comes first: the finalizer is gone, the command is done, or the pod is gone.
	for uid, seen := range map[types.UID]func(){
		"f": func() { s.pod("f", events.PodFailed, untracked, exits(1)) },
		"g": func() {
			s.add(demoStream, events.KindPodDeleted, &events.PodGone{UID: "g"})
			s.end()
		},
	} {
		s.pod(uid, events.PodFailed, exits(1))
		at := s.decide(&events.DropFinalizer{Pod: uid})
		seen()
		s.ended(at, 0, events.Done)
	}
	s.pod("stripped", events.PodFailed, exits(2))
	s.pod("stripped", events.PodFailed, exits(2), untracked) // by a user
	s.pod("surplus", events.PodFailed, exits(2))
	s.ended(s.decide(&events.DropFinalizer{Pod: "surplus", ThenDelete: true}), 0, events.Done)
	s.expect("pod_failures",
		`pod_failures_handled_by_failure_policy_total{action="Count"} 1`,
		`pod_failures_handled_by_failure_policy_total{action="FailJob"} 1`,
		`pod_failures_handled_by_failure_policy_total{action="Ignore"} 4`)
}

// Rows of J-201: ended pods that hold the finalizer, whoever owns them.
func TestTerminatedPods(t *testing.T) {
	add, remove := `terminated_pods_tracking_finalizer_total{event="add"} 1`, `terminated_pods_tracking_finalizer_total{event="delete"} 1`
	gone := func(s *script, stream events.Stream) {
		s.add(stream, events.KindPodDeleted, &events.PodGone{UID: "p"})
	}
	for _, tt := range []struct {
		name string
		run  func(s *script)
		want []string
	}{
		{"J-201 not while it runs", func(s *script) { s.pod("p", events.PodRunning) }, nil},
		{"J-201 when it ended, however often it is seen", func(s *script) {
			s.pod("p", events.PodSucceeded)
			s.pod("p", events.PodSucceeded)
		}, []string{add}},
		{"J-201 until its finalizer is confirmed gone", func(s *script) {
			s.pod("p", events.PodSucceeded)
			s.ended(s.decide(&events.DropFinalizer{Pod: "p"}), 0, events.Done)
			s.pod("p", events.PodSucceeded) // older than the answer
		}, []string{add, remove}},
		{"J-201 until somebody strips it", func(s *script) {
			s.pod("p", events.PodFailed)
			s.pod("p", events.PodFailed, untracked)
		}, []string{add, remove}},
		{"J-201 until its object is gone", func(s *script) {
			s.pod("p", events.PodFailed)
			gone(s, demoStream)
			s.end()
		}, []string{add, remove}},
		{"J-201 though nobody owns it", func(s *script) {
			s.add(events.NamespaceStream("default"), events.KindPodAdded, podOf("p", events.PodFailed))
			s.end()
			gone(s, events.NamespaceStream("default"))
			s.end()
		}, []string{add, remove}},
		{"J-201 once, though it changes hands", func(s *script) {
			s.add(events.NamespaceStream("default"), events.KindPodAdded, podOf("p", events.PodFailed))
			s.end()
			gone(s, events.NamespaceStream("default"))
			s.add(demoStream, events.KindPodAdded, podOf("p", events.PodFailed))
			s.end()
		}, []string{add}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, plain())
			tt.run(s)
			s.expect("terminated_pods", tt.want...)
		})
	}
}

// J-204: Jobs of other controllers are counted by the controller's name; ours and the built-in one's are not.
// J-205: the series of skips for a stale view are there, and stay 0.
func TestForeignAndStale(t *testing.T) {
	m := New()
	m.Foreign("example.com/other")
	m.Foreign("example.com/other")
	m.Foreign("")
	m.Foreign(events.BuiltinManagedBy)
	s := &script{t: t, metrics: m}
	s.expect("jobs_by", `jobs_by_external_controller_total{controller_name="example.com/other"} 2`)
	s.expect("stale", `stale_sync_skips_total{group="",resource="pods"} 0`, `stale_sync_skips_total{group="batch",resource="jobs"} 0`)
}

// TestNamesOfTenantsAreBounded: a user may create Jobs with ever new controller names. That does not fill the memory of
// the program that scrapes.
func TestNamesOfTenantsAreBounded(t *testing.T) {
	m := New()
	for i := range 1000 {
		m.Foreign(fmt.Sprintf("example.com/%d", i))
	}
	m.Foreign("example.com/0")
	series := lines(t, m, "jobs_by")
	if len(series) != mostNames+1 {
		t.Errorf("there are %d series", len(series))
	}
	for _, want := range []string{`{controller_name="other"} 980`, `{controller_name="example.com/0"} 2`} {
		if !slices.Contains(series, "jobs_by_external_controller_total"+want) {
			t.Errorf("no %s in %q", want, series)
		}
	}
}

func TestWhatIsOverIsForgotten(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(s *script)
	}{
		{"a retired Job", func(s *script) {
			s.pod("p", events.PodSucceeded)
			s.decide(&events.CreatePod{Ordinal: 9})
			s.add(demoStream, events.KindJobRetired, &events.JobRetired{})
			s.end()
		}},
		{"a Job whose object is gone, once its pods are let go", func(s *script) {
			s.pod("p", events.PodSucceeded)
			s.add(demoStream, events.KindJobDeleted, &events.JobGone{})
			s.end()
			if len(s.consumer.jobs) == 0 {
				t.Error("forgotten while a pod holds its finalizer")
			}
			s.ended(s.decide(&events.DropFinalizer{Pod: "p"}), 0, events.Done)
		}},
		{"a Job of a cluster that went back", func(s *script) {
			s.pod("p", events.PodSucceeded)
			s.decide(&events.CreatePod{Ordinal: 9})
			s.add(events.Controller, events.KindEpochChanged, &events.EpochChanged{Epoch: 2, Reason: events.EpochClusterRewound})
			s.end()
		}},
		{"a Job that was never there", func(s *script) {
			s.add(demoStream, events.KindJobDeleted, &events.JobGone{})
			s.end()
			s.add(events.JobStream("x"), events.KindPodAdded, podOf("p", events.PodRunning))
			s.end()
			s.add(events.JobStream("x"), events.KindPodDeleted, &events.PodGone{UID: "p"})
			s.end()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, plain())
			tt.run(s)
			if n := len(s.consumer.jobs); n != 0 {
				t.Errorf("%d Jobs are remembered", n)
			}
			held := lines(t, s.metrics, "terminated")
			if len(held) == 2 && held[0][len(held[0])-1] != held[1][len(held[1])-1] {
				t.Errorf("add and delete differ: %q", held)
			}
		})
	}
}
