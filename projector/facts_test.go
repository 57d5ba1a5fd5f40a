package projector_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// fact is a row: the text of a Job's state after a few records.
type fact struct {
	name string
	of   func(*fold) string
	want string
}

func checkFacts(t *testing.T, facts []fact) {
	t.Helper()
	for _, row := range facts {
		t.Run(row.name, func(t *testing.T) {
			if got := row.of(newFold()); got != row.want {
				t.Errorf("%s; want %s", got, row.want)
			}
		})
	}
}

func (f *fold) job() *projector.Job { return f.world.Job(events.JobStream(job)) }

// see shows the Job's object at a version. It is as at first except for the change, and has no status.
func (f *fold) see(version uint64, change func(*events.JobSeen)) {
	seen := &events.JobSeen{Version: version, Managed: true, Spec: "h", SpecAt: 2}
	if change != nil {
		change(seen)
	}
	f.record(events.KindJobChanged, seen)
}

// pod shows the pod.
func (f *fold) pod(change func(*events.PodSeen)) { f.record(events.KindPodChanged, pod(change)) }

// plain gives the Job a spec that is not Indexed.
func (f *fold) plain() {
	six := int32(6)
	f.record(events.KindSpecStored, &events.JobSpec{
		Hash: "p", Parallelism: &six, Completions: &six, CompletionMode: "NonIndexed", BackoffLimit: &six, Template: "t",
	})
	f.see(11, func(s *events.JobSeen) { s.Spec, s.SpecAt = "p", f.seq })
}

// perIndex gives the Job ten indexes, each with its own limit.
func (f *fold) perIndex(limit int32) {
	ten := int32(10)
	f.record(events.KindSpecStored, &events.JobSpec{
		Hash: "per", Parallelism: &ten, Completions: &ten, CompletionMode: "Indexed", BackoffLimitPerIndex: &limit, RestartPolicy: "Never",
	})
	f.see(11, func(s *events.JobSeen) { s.Spec, s.SpecAt = "per", f.seq })
}

// end folds the end of a command.
func (f *fold) end(name events.CommandID, change func(*events.CommandEnded)) {
	ended := &events.CommandEnded{Command: name, Ending: events.Done, Sent: true}
	if change != nil {
		change(ended)
	}
	f.record(events.KindCommandEnded, ended)
}

func refused(class events.RefusalClass) func(*events.CommandEnded) {
	return func(e *events.CommandEnded) { e.Ending, e.Class = events.Refused, class }
}

func unknown(e *events.CommandEnded) { e.Ending = events.OutcomeUnknown }

// over makes the end unknown, although the API server has answered.
func over(e *events.CommandEnded) { e.Ending, e.Over = events.OutcomeUnknown, true }

func withdrawn(e *events.CommandEnded) { e.Ending, e.Sent = events.Withdrawn, false }

func done(uid types.UID, version uint64) func(*events.CommandEnded) {
	return func(e *events.CommandEnded) { e.UID, e.Version = uid, version }
}

// restart folds the start of another process.
func (f *fold) restart(change func(*events.Settings)) {
	settings := f.world.Settings
	if change != nil {
		change(&settings)
	}
	f.at(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: settings})
}

// in returns how far ahead a time is.
func (f *fold) in(t events.Time) time.Duration {
	if t == 0 {
		return 0
	}
	return t.Sub(f.now)
}

func failed(p *events.PodSeen) { p.Phase, p.Finished = events.PodFailed, 1e18 }
func orphan(p *events.PodSeen) { p.Owner, p.Selected, p.Candidates = "", false, []types.UID{job} }
func version(n uint64) func(*events.PodSeen) {
	return func(p *events.PodSeen) { p.Version = n }
}

func both(changes ...func(*events.PodSeen)) func(*events.PodSeen) {
	return func(p *events.PodSeen) {
		for _, c := range changes {
			c(p)
		}
	}
}

var failing = events.StatusChange{Conditions: []events.JobCondition{{Type: status.FailureTarget, Status: "True"}}}

// TestWhatIsSeenIsFolded: the state after observations, and after the records of the controller that concern every Job.
func TestWhatIsSeenIsFolded(t *testing.T) {
	checkFacts(t, []fact{
		{"a Job's clock follows a clock that is set back", func(f *fold) string {
			f.now -= 60e9
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: -time.Minute})
			return fmt.Sprint(f.in(f.job().Now))
		}, "0s"},
		{"the program that runs is known", func(f *fold) string {
			f.at(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Version: "v9", Settings: f.world.Settings})
			return f.world.Program
		}, "v9"},
		{"so are the generation of the Job's spec, and where it is stored", func(f *fold) string {
			f.see(11, func(s *events.JobSeen) { s.Generation = 7 })
			return fmt.Sprint(f.job().Generation, " stored at ", f.job().SpecAt)
		}, "7 stored at 2"},
		{"a Job's newest record is of its own stream", func(f *fold) string {
			f.pod(nil)
			own := f.seq
			f.restart(nil)
			return fmt.Sprint(f.job().Head == own)
		}, "true"},
		{"J-189: a version of the Job from before its end brings nothing back", func(f *fold) string {
			f.pod(nil)
			f.record(events.KindJobDeleted, &events.JobGone{Version: 30})
			f.see(29, nil)
			return fmt.Sprint(f.job().Gone)
		}, "true"},
		{"J-189: nor does one older than what was known, when a list from before says that it is gone", func(f *fold) string {
			f.pod(nil)
			f.record(events.KindJobDeleted, &events.JobGone{Version: 5, Missed: true})
			f.see(9, nil)
			return fmt.Sprint(f.job().Gone, f.job().Version)
		}, "true 10"},
		{"J-189: an older version of the Job is not folded", func(f *fold) string {
			f.see(9, func(s *events.JobSeen) { s.Generation = 7 })
			return fmt.Sprint(f.job().Generation, f.job().Version)
		}, "0 10"},
		{"J-006: the same version is folded again when whose it is is judged otherwise", func(f *fold) string {
			f.see(10, func(s *events.JobSeen) { s.Managed = false })
			return fmt.Sprint(f.job().Managed)
		}, "false"},
		{"what observe mode would decide is not in flight", func(f *fold) string {
			f.record(events.KindWouldDecide, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: []events.Command{
				&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"},
			}}}})
			return fmt.Sprint(f.job().Busy())
		}, "false"},
		{"a name that has been erased is remembered", func(f *fold) string {
			f.seq++
			f.world.Apply(&events.Record{
				Header: events.Header{Sequence: f.seq, Time: f.now, Stream: events.JobStream(job), Kind: events.KindJobChanged},
				Facts:  &events.JobSeen{Version: 11, Managed: true, Spec: "h", SpecAt: 2},
			})
			return f.job().Ref.Name
		}, "demo-0"},
		{"J-009: an end in doubt stays so until a newer version is seen", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), unknown)
			f.see(10, nil)
			same := f.in(f.job().EndInDoubt)
			f.see(11, nil)
			return fmt.Sprint(same, f.in(f.job().EndInDoubt))
		}, "1m0s 0s"},
		{"J-175: a Job that becomes ours is to adopt", func(f *fold) string {
			f.see(11, func(s *events.JobSeen) { s.Managed = false })
			f.pod(orphan)
			f.see(12, nil)
			return fmt.Sprint(f.job().OrphanedLen())
		}, "1"},
		{"J-175: a Job that is being deleted is not to adopt", func(f *fold) string {
			f.pod(orphan)
			f.see(12, func(s *events.JobSeen) { s.Deleted = 1e18 })
			return fmt.Sprint(f.job().OrphanedLen())
		}, "0"},
		{"of a Job that was taken for gone, and is not, pods count again", func(f *fold) string {
			f.pod(failed)
			f.record(events.KindJobDeleted, &events.JobGone{Version: 11})
			gone := f.job().FailedCount()
			f.see(12, nil)
			return fmt.Sprint(gone, f.job().FailedCount())
		}, "0 1"},
		{"J-237: what was seen of the Job answers the question for it", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10}), refused(events.RefusedInvalid))
			before := fmt.Sprint(f.job().Look, f.job().Recheck)
			f.see(11, nil)
			return before + fmt.Sprint(" ", f.job().Look, f.job().Recheck, f.in(f.job().Writing().Until))
		}, "true true false false 1s"},
		{"J-017: the newer version that a conflict spoke of ends the wait", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10}), refused(events.RefusedConflict))
			before := f.in(f.job().Writing().Until)
			f.see(11, nil)
			return fmt.Sprint(before, f.in(f.job().Writing().Until))
		}, "1s 0s"},
		{"J-145: a Job starts when it is seen, and goes on from then", func(f *fold) string {
			f.now += 60e9
			f.see(11, nil)
			return fmt.Sprint(f.in(f.job().Start))
		}, "-1m0s"},
		{"J-145: but one that has started before us, from then", func(f *fold) string {
			f.record(events.KindSpecStored, &events.JobSpec{Hash: "h"})
			f.at(events.JobStream("other"), events.KindJobAdded, &events.JobSeen{
				Version: 10, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{StartTime: f.now - 60e9},
			})
			return fmt.Sprint(f.in(f.world.Job(events.JobStream("other")).Start))
		}, "-1m0s"},
		{"J-151: a Job that was resumed began then, though a status from before says once more that it is suspended", func(f *fold) string {
			f.see(11, func(s *events.JobSeen) { s.Status = said(status.Suspended) })
			f.now += 5e9
			f.see(12, func(s *events.JobSeen) { s.Status, s.Generation = said(status.Suspended), 2 })
			return fmt.Sprint(f.in(f.job().Start))
		}, "-5s"},
		{"J-145: a Job that has begun has, whatever is published before its start time is", func(f *fold) string {
			f.now += 5e9
			f.see(11, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Failed: 1, Ready: events.Unset, Terminating: events.Unset}
			})
			return fmt.Sprint(f.in(f.job().Start))
		}, "-5s"},
		{"J-151: one that was suspended before us starts anew", func(f *fold) string {
			f.at(events.JobStream("other"), events.KindJobAdded, &events.JobSeen{
				Version: 10, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{
					StartTime: f.now - 60e9, Conditions: []events.JobCondition{{Type: status.Suspended, Status: "True"}},
				},
			})
			return fmt.Sprint(f.in(f.world.Job(events.JobStream("other")).Start))
		}, "0s"},
		{"J-146: a start time that was asked for before the clock was set is ours, though nobody said that it was stored", func(f *fold) string {
			start := f.job().Start.Second()
			f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{StartTime: start}})
			f.now += 3600e9
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Hour})
			f.restart(nil)
			f.see(11, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{StartTime: start, Active: 1, Ready: events.Unset, Terminating: events.Unset}
			})
			return fmt.Sprint(f.in(f.job().Start))
		}, "0s"},
		{"J-146: nor does a write that says nothing of it undo that", func(f *fold) string {
			before := f.job().Start
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{StartTime: before.Second() + 1e9}}), unknown)
			f.end(f.decide(&events.WriteStatus{Base: 10}), refused(events.RefusedServer))
			f.see(11, func(s *events.JobSeen) { s.Status = &events.JobStatus{StartTime: before.Second() + 1e9} })
			return fmt.Sprint(f.job().Start == before)
		}, "true"},
		{"J-146: one that is published already is no news, though the clock was set since", func(f *fold) string {
			status := func(s *events.JobSeen) { s.Status = &events.JobStatus{StartTime: 1000e9} }
			f.see(11, status)
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Hour})
			before := f.job().Start
			f.see(12, status)
			return fmt.Sprint(f.job().Start == before)
		}, "true"},
		{"J-147: but not once the Job has begun anew", func(f *fold) string {
			start := f.job().Start.Second()
			f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{StartTime: start}})
			f.now += 60e9
			f.see(11, func(s *events.JobSeen) { s.Status = said(status.Suspended) })
			f.see(12, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{StartTime: start, Ready: events.Unset, Terminating: events.Unset}
			})
			return fmt.Sprint(f.in(f.job().Start))
		}, "-1m0s"},
		{"J-060: a pod settles the create that made it", func(f *fold) string {
			f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"})
			f.pod(nil)
			return fmt.Sprint(len(f.job().Creates()))
		}, "0"},
		{"J-060: also when its owner was taken away", func(f *fold) string {
			f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"})
			f.pod(both(orphan, func(p *events.PodSeen) { p.Maker = job }))
			return fmt.Sprint(len(f.job().Creates()))
		}, "0"},
		{"J-060: but not one that another Job made", func(f *fold) string {
			f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"})
			f.pod(both(orphan, func(p *events.PodSeen) { p.Maker = "other" }))
			return fmt.Sprint(len(f.job().Creates()))
		}, "1"},
		{"J-189: an older version of a pod is not folded", func(f *fold) string {
			f.pod(nil)
			f.pod(both(failed, version(19)))
			return f.job().Pod("pod").Phase.String()
		}, "Running"},
		{"J-175: the same version of a pod is folded again when others may adopt it", func(f *fold) string {
			f.pod(both(orphan, func(p *events.PodSeen) { p.Candidates = nil }))
			before := f.job().OrphanedLen()
			f.pod(orphan)
			return fmt.Sprint(before, f.job().OrphanedLen())
		}, "0 1"},
		{"J-095: a finalizer that is confirmed gone stays gone, until the pod is seen without it", func(f *fold) string {
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 20))
			f.pod(both(failed, version(20)))
			before := f.job().Pod("pod").Held()
			f.pod(both(failed, version(21), func(p *events.PodSeen) { p.Tracked = false }))
			return fmt.Sprint(before, f.job().Pod("pod").DroppedIn)
		}, "false 0"},
		{"J-100: one that is there in a newer version was given back, and goes again", func(f *fold) string {
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			f.pod(both(failed, version(22)))
			return fmt.Sprint(f.job().Pod("pod").Held(), f.job().ReleasedLen())
		}, "true 1"},
		{"J-100: also when that is seen before the server's answer", func(f *fold) string {
			f.pod(failed)
			drop := f.decide(&events.DropFinalizer{Pod: "pod"})
			f.pod(both(failed, version(22)))
			f.end(drop, done("pod", 21))
			return fmt.Sprint(f.job().Pod("pod").Held(), f.job().ReleasedLen())
		}, "true 1"},
		{"J-087: also when it was seen without, and counted since, and it is not counted twice", func(f *fold) string {
			f.plain()
			f.pod(failed)
			f.end(f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}}), done(job, 12))
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			f.pod(both(failed, version(21), func(p *events.PodSeen) { p.Tracked = false }))
			one := int32(1)
			counted := events.StatusChange{Failed: &one, Counted: []types.UID{"pod"}}
			f.end(f.decide(&events.WriteStatus{Base: 12, Change: counted}), done(job, 13))
			f.pod(both(failed, version(22)))
			return fmt.Sprint(f.job().FailedCount(), f.job().UnlistedLen(), f.job().ReleasedLen())
		}, "1 0 1"},
		{"J-116: one that lost it while the status is written counts for its index until that has ended", func(f *fold) string {
			f.perIndex(0)
			f.pod(failed)
			f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{SetFailedIndexes: true, AddFailed: []types.UID{"pod"}}})
			bare := func(p *events.PodSeen) { p.Tracked = false }
			f.pod(both(failed, bare, version(21)))
			f.pod(both(failed, bare, version(22)))
			return f.job().FailedIndexes().Text()
		}, "0"},
		{"J-175: one that was adopted has it again, though the watch has not shown it", func(f *fold) string {
			f.pod(orphan)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 21}), done("pod", 30))
			return fmt.Sprint(f.job().Pod("pod").Held())
		}, "true"},
		{"J-091: and is not counted when it was not to be", func(f *fold) string {
			f.pod(nil)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			f.pod(version(22))
			return fmt.Sprint(f.job().Pod("pod").NeverCounted)
		}, "true"},
		{"J-173: one that was let go as it was not the Job's, and is its own now, is counted", func(f *fold) string {
			f.pod(disowned)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			f.pod(both(failed, version(22)))
			return fmt.Sprint(f.job().Pod("pod").NeverCounted, f.job().UnlistedLen())
		}, "false 1"},
		{"J-174: the answer says nothing of what else the pod is, so what is decided on it is still of the version that was seen", func(f *fold) string {
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 22))
			before := f.job().Pod("pod").Version
			f.pod(both(failed, version(21)))
			return fmt.Sprint(before, f.job().Pod("pod").Version, f.job().Pod("pod").Held())
		}, "20 21 false"},
		{"J-031: it is not counted twice", func(f *fold) string {
			f.see(11, func(j *events.JobSeen) {
				j.Status = &events.JobStatus{HasUncounted: true, UncountedFailed: []types.UID{"pod"}}
			})
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			f.see(12, func(j *events.JobSeen) { j.Status = &events.JobStatus{HasUncounted: true, Failed: 1} })
			f.pod(both(failed, version(22)))
			return fmt.Sprint(f.job().FailedCount(), f.job().ReleasedLen())
		}, "1 1"},
		{"a pod whose deletion is confirmed is leaving, until it shows so itself", func(f *fold) string {
			f.pod(nil)
			f.end(f.decide(&events.DeletePod{Pod: "pod"}), done("pod", 0))
			f.pod(version(21))
			before := f.job().Pod("pod").Leaving()
			f.pod(both(version(22), func(p *events.PodSeen) { p.Deleted = 1e18 }))
			return fmt.Sprint(before, f.job().Pod("pod").DeleteDone)
		}, "true false"},
		{"J-142: a pod fell by itself when it failed before it was deleted", func(f *fold) string {
			f.pod(failed)
			f.pod(both(failed, version(21), func(p *events.PodSeen) { p.Deleted = 1e18 }))
			return fmt.Sprint(f.job().Pod("pod").FailedBeforeDeletion)
		}, "true"},
		{"J-142: not when it failed after", func(f *fold) string {
			f.pod(both(failed, func(p *events.PodSeen) { p.Deleted = 1e18 }))
			return fmt.Sprint(f.job().Pod("pod").FailedBeforeDeletion)
		}, "false"},
		{"J-142: but when its containers had ended", func(f *fold) string {
			f.pod(both(failed, func(p *events.PodSeen) { p.Deleted, p.EndedFirst = 1e18, true }))
			return fmt.Sprint(f.job().Pod("pod").FailedBeforeDeletion)
		}, "true"},
		{"J-142: and one that runs has not fallen", func(f *fold) string {
			f.pod(nil)
			return fmt.Sprint(f.job().Pod("pod").FailedBeforeDeletion)
		}, "false"},
		{"J-174: of pods seen before their Job it is not known whether it selects them", func(f *fold) string {
			f.at(events.JobStream("late"), events.KindPodAdded, pod(func(p *events.PodSeen) { p.Owner, p.Selected = "late", false }))
			f.at(events.JobStream("late"), events.KindJobAdded, &events.JobSeen{Version: 30, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}})
			j := f.world.Job(events.JobStream("late"))
			before := j.DisownedLen()
			f.at(events.JobStream("late"), events.KindPodChanged, pod(func(p *events.PodSeen) { p.Owner, p.Selected = "late", false }))
			return fmt.Sprint(before, j.DisownedLen())
		}, "0 1"},
		{"J-013: another spec holds for the pods that are there", func(f *fold) string {
			two := int32(2)
			f.record(events.KindSpecStored, &events.JobSpec{Hash: "two", Parallelism: &two, Completions: &two, CompletionMode: "Indexed"})
			f.see(11, func(s *events.JobSeen) { s.Spec, s.SpecAt = "two", f.seq })
			return fmt.Sprint(f.job().FreeIndexes(9))
		}, "[0 1]"},
		{"J-145: a Job that was finished when it was seen first does not start", func(f *fold) string {
			f.at(events.JobStream("other"), events.KindJobAdded, &events.JobSeen{
				Version: 10, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{
					Conditions: []events.JobCondition{{Type: status.Failed, Status: "True"}},
				},
			})
			return fmt.Sprint(f.world.Job(events.JobStream("other")).Start)
		}, "0"},
		{"a pod that the server did not find stays away, though an older event shows it", func(f *fold) string {
			f.pod(nil)
			f.end(f.decide(&events.DeletePod{Pod: "pod"}), refused(events.RefusedNotFound))
			f.pod(version(21))
			return fmt.Sprint(f.job().Pod("pod").Vanished, f.job().Tally().Active)
		}, "true 0"},
		{"a pod that had gone to another stream while it was being counted, and is back, is there", func(f *fold) string {
			f.plain()
			f.pod(failed)
			write := f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}})
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 20, Moved: true})
			f.pod(both(failed, version(21)))
			f.end(write, refused(events.RefusedServer))
			return fmt.Sprint(f.job().PodCount(), f.job().FailedCount(), f.job().Pod("pod") != nil && f.job().Pod("pod").Held())
		}, "1 1 true"},
		{"pods tell the name of the Job that nobody has seen", func(f *fold) string {
			f.seq++
			f.world.Apply(&events.Record{
				Header: events.Header{Sequence: f.seq, Time: f.now, Stream: events.JobStream("late"), Kind: events.KindPodAdded},
				Facts:  pod(func(p *events.PodSeen) { p.Owner = "late" }), Evidence: events.Evidence{Namespace: "there", Name: "x-0", Owner: "x"},
			})
			ref := f.world.Job(events.JobStream("late")).Ref
			return ref.Namespace + "/" + ref.Name
		}, "there/x"},
		{"J-118: when a user gives a pod another index, the failed pod of its old one is held that is left", func(f *fold) string {
			f.perIndex(3)
			f.pod(both(failed, func(p *events.PodSeen) { p.UID = "older" }))
			f.pod(both(failed, func(p *events.PodSeen) { p.IndexFailures = 1 }))
			held := func(i int32) string {
				if p := f.job().Held(i); p != nil {
					return string(p.UID)
				}
				return "none"
			}
			before := held(0)
			f.pod(both(failed, version(21), func(p *events.PodSeen) { p.IndexFailures, p.Index = 1, 1 }))
			return before + " " + held(0) + " " + held(1)
		}, "pod older pod"},
		{"a pod's names are remembered when they are erased", func(f *fold) string {
			for _, e := range []events.Evidence{{Namespace: "ns", Name: "demo-0", Node: "n1"}, {Name: "demo-0"}, {}} {
				f.seq++
				f.world.Apply(&events.Record{
					Header: events.Header{Sequence: f.seq, Time: f.now, Stream: events.JobStream(job), Kind: events.KindPodChanged},
					Facts:  pod(nil), Evidence: e,
				})
			}
			p := f.job().Pod("pod")
			return p.Name + " on " + p.Node
		}, "demo-0 on n1"},
	})
}

// TestIndexesAndTheirPods: the state of an index follows its pods.
func TestIndexesAndTheirPods(t *testing.T) {
	checkFacts(t, []fact{
		{"J-091: a pod that is not to be counted is no failure of its index", func(f *fold) string {
			f.perIndex(0)
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod"})
			f.restart(nil)
			f.pod(both(failed, version(21)))
			return fmt.Sprintf("failed %q, free %v", f.job().FailedIndexes().Text(), f.job().FreeIndexes(1))
		}, `failed "", free [0]`},
		{"J-091: nor is it held back", func(f *fold) string {
			f.perIndex(1)
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod"})
			f.restart(nil)
			f.pod(both(failed, version(21)))
			return fmt.Sprint(f.job().Held(0) == nil, f.job().ReleasedLen())
		}, "true 1"},
		{"J-036: a pod that was held back and goes counts no longer, and the other one of its index is held back", func(f *fold) string {
			f.perIndex(3)
			f.pod(both(failed, func(p *events.PodSeen) { p.UID = "older" }))
			f.pod(both(failed, func(p *events.PodSeen) { p.IndexFailures = 1 }))
			text := ""
			for _, uid := range []types.UID{"no", "pod", "older"} {
				f.record(events.KindPodDeleted, &events.PodGone{UID: uid, Version: 30})
				t := f.job().Tally()
				text += fmt.Sprintf("%d fresh and %d of %d held; ", f.job().UnlistedLen(), t.HeldFailed, f.job().FailedCount())
			}
			return text
		}, "1 fresh and 1 of 2 held; 0 fresh and 1 of 1 held; 0 fresh and 0 of 0 held; "},
		{"J-071: indexes that several pods share are told in ascending order", func(f *fold) string {
			f.perIndex(1)
			for n := range uint64(20) {
				f.pod(both(named(types.UID(fmt.Sprint("p", n)), n+1), func(p *events.PodSeen) { p.Index = int32(n) / 2 }))
			}
			return fmt.Sprint(f.job().Crowded())
		}, "[0 1 2 3 4 5 6 7 8 9]"},
		{"J-100: a finished Job keeps a pod that nobody owns until a newer version of it is seen", func(f *fold) string {
			f.pod(nil)
			f.pod(both(orphan, version(21), func(p *events.PodSeen) { p.Candidates = nil }))
			f.see(12, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Conditions: []events.JobCondition{{Type: status.Failed, Status: "True"}}}
			})
			f.end(f.decide(&events.DropFinalizer{Pod: "pod", Version: 21}), refused(events.RefusedConflict))
			before := fmt.Sprint(f.job().ReleasedLen(), f.job().Quiet())
			f.pod(both(orphan, version(22), func(p *events.PodSeen) { p.Candidates = nil }))
			return before + fmt.Sprint(" ", f.job().ReleasedLen(), f.job().Quiet())
		}, "0 false 1 false"},
	})
}

// TestWhatGoesIsForgotten: a pod whose object is gone leaves nothing in its Job except the counts.
func TestWhatGoesIsForgotten(t *testing.T) {
	gone := func(f *fold) { f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 30}) }
	checkFacts(t, []fact{
		{"of a pod that nobody knows there is nothing to forget", func(f *fold) string {
			gone(f)
			return fmt.Sprint(f.job().PodCount())
		}, "0"},
		{"its commands are no longer in flight", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true}, &events.DeletePod{Pod: "pod"}, &events.AdoptPod{Pod: "pod"})
			before := f.job().Busy()
			gone(f)
			return fmt.Sprint(before, f.job().Busy(), f.job().Removing())
		}, "true false false"},
		{"a status write in flight that accounts for it keeps it", func(f *fold) string {
			f.plain()
			f.pod(failed)
			write := f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}})
			gone(f)
			during := f.job().FailedCount()
			f.end(write, refused(events.RefusedServer))
			return fmt.Sprint(during, f.job().FailedCount(), f.job().PodCount())
		}, "1 0 0"},
		{"J-038: but it does not run, though one that runs counts as failed", func(f *fold) string {
			f.plain()
			f.see(12, func(s *events.JobSeen) {
				s.Spec, s.SpecAt, s.Status = "p", f.job().SpecAt, &events.JobStatus{Conditions: failing.Conditions}
			})
			f.pod(nil)
			f.decide(&events.WriteStatus{Base: 12, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}})
			before := f.job().Tally().Active
			gone(f)
			return fmt.Sprint(before, f.job().Tally().Active, f.job().FailedCount())
		}, "1 0 1"},
		{"a pod in the uncounted lists can be moved to the counters when it is gone", func(f *fold) string {
			f.plain()
			f.pod(failed)
			f.end(f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}}), done(job, 12))
			before := f.job().Tally().Countable
			gone(f)
			return fmt.Sprint(before, f.job().Tally().Countable, f.job().FailedCount())
		}, "0 1 1"},
		{"not when it is back", func(f *fold) string {
			f.plain()
			f.pod(failed)
			f.end(f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}}), done(job, 12))
			gone(f)
			f.pod(failed)
			return fmt.Sprint(f.job().Tally().Countable)
		}, "0"},
		{"J-039: an index that a pod completed is open again when it goes uncounted", func(f *fold) string {
			f.pod(func(p *events.PodSeen) { p.Phase = events.PodSucceeded })
			before := f.job().SucceededCount()
			gone(f)
			return fmt.Sprint(before, f.job().SucceededCount(), f.job().FreeIndexes(9))
		}, "1 0 [0 1 2]"},
	})
}
