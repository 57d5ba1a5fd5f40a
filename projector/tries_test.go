package projector_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// tell folds an observation of a pod, with its evidence.
func (f *fold) tell(uid types.UID, version uint64, change func(*events.PodSeen, *events.Evidence)) {
	seen := pod(func(p *events.PodSeen) { p.UID, p.Version, p.Ordinal = uid, version, 0 })
	e := events.Evidence{Namespace: "ns", Name: string(uid)}
	change(seen, &e)
	f.seq++
	f.world.Apply(&events.Record{
		Header: events.Header{Sequence: f.seq, Time: f.now, Stream: events.JobStream(job), Kind: events.KindPodChanged}, Facts: seen, Evidence: e,
	})
}

// ran changes nothing: the pod ran.
func ran(*events.PodSeen, *events.Evidence) {}

// ends makes the pod failed, with these ends of its containers.
func ends(containers ...events.ContainerEnd) func(*events.PodSeen, *events.Evidence) {
	return func(p *events.PodSeen, e *events.Evidence) {
		p.Phase = events.PodFailed
		e.Containers = containers
		for _, c := range containers {
			if c.ExitCode != 0 && !c.Again {
				p.Exits = append(p.Exits, events.ContainerExit{Name: c.Name, Init: c.Kind != events.RegularContainer, Code: c.ExitCode})
			}
		}
	}
}

func mainExit(code int32, reason string) events.ContainerEnd {
	return events.ContainerEnd{Name: "main", ExitCode: code, Reason: reason}
}

func deleting(p *events.PodSeen, _ *events.Evidence) { p.Deleted = 1e18 }

func disrupted(reason string) func(*events.PodSeen, *events.Evidence) {
	return func(p *events.PodSeen, e *events.Evidence) {
		p.Deleted = 1e18
		e.Conditions = []events.ConditionText{{Type: "DisruptionTarget", Status: "True", Reason: reason}}
	}
}

var kindNames = map[projector.TryKind]string{
	projector.TryFailed: "failed", projector.TryDisrupted: "disrupted", projector.TryDeleted: "deleted", projector.TryStopped: "stopped",
	projector.TryUnseen: "unseen", projector.TryRestarted: "restarted",
}

// tried writes how the Job's tries ended.
func (f *fold) tried() string {
	var out []string
	for _, e := range f.job().Ends {
		text := fmt.Sprintf("%d %s", e.Count, kindNames[e.Kind])
		for _, x := range e.Exits {
			if x.Container != "" {
				text += fmt.Sprintf(" %s %s %d %s", x.Kind, x.Container, x.Code, x.Reason)
			}
		}
		if e.MoreExits > 0 {
			text += fmt.Sprintf(" +%d", e.MoreExits)
		}
		if e.Action != "" {
			text += fmt.Sprintf(" %s %d", e.Action, e.Rule)
		}
		if e.Other {
			text += " otherwise"
		}
		out = append(out, strings.TrimSpace(text+" "+e.Reason)+" of "+e.Pod)
	}
	return strings.Join(out, "; ")
}

// TestTries: the summary of how a Job's tries ended. It is the same when the state is stored and restored after each
// record.
func TestTries(t *testing.T) {
	for _, row := range []struct {
		sentence string
		happens  func(*fold)
		want     string
	}{
		{"a pod that succeeds is not told", func(f *fold) {
			f.tell("a", 20, ran)
			f.tell("a", 21, func(p *events.PodSeen, _ *events.Evidence) { p.Phase = events.PodSucceeded })
		}, ""},
		{"pods that end alike are one way", func(f *fold) {
			for i, uid := range []types.UID{"a", "b", "c"} {
				f.tell(uid, uint64(20+2*i), ran)
				f.tell(uid, uint64(21+2*i), ends(mainExit(3, "Error")))
			}
		}, "3 failed regular main 3 Error of a"},
		{"another code, another reason, another container, another kind of container: another way each", func(f *fold) {
			f.tell("a", 20, ends(mainExit(1, "Error")))
			f.tell("b", 21, ends(mainExit(2, "Error")))
			f.tell("c", 22, ends(mainExit(1, "OOMKilled")))
			f.tell("d", 23, ends(events.ContainerEnd{Name: "other", ExitCode: 1, Reason: "Error"}))
			f.tell("e", 24, ends(events.ContainerEnd{Name: "main", ExitCode: 1, Reason: "Error", Kind: events.InitContainer}))
		}, "1 failed regular main 1 Error of a; 1 failed regular main 2 Error of b; 1 failed regular main 1 OOMKilled of c; " +
			"1 failed regular other 1 Error of d; 1 failed init main 1 Error of e"},
		{"a pod that is seen again is told once", func(f *fold) {
			f.tell("a", 20, ends(mainExit(3, "")))
			f.tell("a", 21, func(p *events.PodSeen, e *events.Evidence) {
				ends(mainExit(3, ""))(p, e)
				p.Tracked, p.Deleted = false, 1e18
			})
			f.record(events.KindPodDeleted, &events.PodGone{UID: "a", Version: 22})
		}, "1 failed regular main 3 of a"},
		{"sidecars are killed when the others have ended", func(f *fold) {
			f.tell("a", 20, ends(mainExit(3, ""), events.ContainerEnd{Name: "proxy", ExitCode: 143, Kind: events.SidecarContainer}))
			f.tell("b", 21, ends(events.ContainerEnd{Name: "proxy", ExitCode: 1, Kind: events.SidecarContainer}))
		}, "1 failed regular main 3 of a; 1 failed sidecar proxy 1 of b"},
		{"more containers than are told by name", func(f *fold) {
			f.tell("a", 20, ends(mainExit(1, ""), events.ContainerEnd{Name: "b", ExitCode: 2}, events.ContainerEnd{Name: "c", ExitCode: 3}))
		}, "1 failed regular main 1  regular b 2  +1 of a"},
		{"a container of which its node found no trace did not exit, and was not started again", func(f *fold) {
			lost := mainExit(137, "ContainerStatusUnknown")
			lost.Restarts = 1
			f.tell("a", 20, ran)
			f.tell("a", 21, func(p *events.PodSeen, e *events.Evidence) {
				p.Restarts, p.MaxRestarts = 1, 1
				e.Containers = []events.ContainerEnd{lost}
				e.Containers[0].Again = true
			})
			f.tell("a", 22, func(p *events.PodSeen, e *events.Evidence) {
				ends(lost)(p, e)
				p.Restarts, p.MaxRestarts, e.Reason = 1, 1, "Evicted"
			})
			f.tell("b", 23, ends(mainExit(137, "ContainerStatusUnknown")))
			f.tell("c", 24, ends(mainExit(255, "Unknown")))
		}, "1 failed Evicted of a; 1 failed regular main 137 ContainerStatusUnknown of b; 1 failed regular main 255 Unknown of c"},
		{"the evidence was erased", func(f *fold) {
			f.tell("a", 20, func(p *events.PodSeen, e *events.Evidence) {
				ends(mainExit(3, "Error"))(p, e)
				*e = events.Evidence{}
			})
		}, "1 failed regular main 3 of "},
		{"deleted by somebody, and then stopped by the kubelet", func(f *fold) {
			f.tell("a", 20, ran)
			f.tell("a", 21, deleting)
			f.tell("a", 22, func(p *events.PodSeen, e *events.Evidence) {
				ends(mainExit(143, ""))(p, e)
				p.Deleted = 1e18
			})
		}, "1 deleted of a"},
		{"evicted", func(f *fold) {
			f.tell("a", 20, ran)
			f.tell("a", 21, disrupted("EvictionByEvictionAPI"))
			f.tell("b", 22, disrupted("PreemptionByScheduler"))
		}, "1 disrupted EvictionByEvictionAPI of a; 1 disrupted PreemptionByScheduler of b"},
		{"gone, and nobody saw how", func(f *fold) {
			f.tell("a", 20, ran)
			f.record(events.KindPodDeleted, &events.PodGone{UID: "a", Version: 21, Missed: true})
		}, "1 unseen of a"},
		{"gone to another Job", func(f *fold) {
			f.tell("a", 20, ran)
			f.record(events.KindPodDeleted, &events.PodGone{UID: "a", Version: 21, Moved: true})
		}, ""},
		{"another Job's pod", func(f *fold) {
			f.tell("a", 20, func(p *events.PodSeen, e *events.Evidence) {
				ends(mainExit(3, ""))(p, e)
				p.Owner, p.Selected = "", false
			})
		}, ""},
		{"surplus", func(f *fold) {
			f.tell("a", 20, ran)
			f.decide(&events.DropFinalizer{Pod: "a", ThenDelete: true})
			f.tell("a", 21, func(p *events.PodSeen, _ *events.Evidence) { p.Tracked, p.Deleted = false, 1e18 })
		}, "1 stopped of a"},
		{"another controller stops what is more than parallelism, and a user one more", func(f *fold) {
			f.starts(events.ModeObserve)
			for i, uid := range []types.UID{"a", "b", "c"} {
				f.tell(uid, uint64(20+i), ran)
			}
			one := int32(1)
			f.spec(func(s *events.JobSpec) { s.Parallelism = &one })
			for i, uid := range []types.UID{"a", "b", "c"} {
				f.tell(uid, uint64(30+i), deleting)
			}
		}, "2 stopped of a; 1 deleted of c"},
		{"another controller stops what is more than completions ask for", func(f *fold) {
			f.starts(events.ModeObserve)
			f.tell("a", 20, ran)
			f.tell("b", 21, ran)
			f.see(11, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Ready: events.Unset, Terminating: events.Unset, Succeeded: 2, CompletedIndexes: "0-1"}
			})
			f.tell("a", 30, deleting)
			f.tell("b", 31, deleting)
		}, "1 stopped of a; 1 deleted of b"},
		{"another controller stops it behind the deadline", func(f *fold) {
			f.starts(events.ModeObserve)
			f.spec(func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(60)) })
			spec := f.job().Spec.Hash
			f.see(12, func(s *events.JobSeen) {
				s.Spec, s.Status = spec, &events.JobStatus{Ready: events.Unset, Terminating: events.Unset, StartTime: f.now}
			})
			f.tell("a", 20, ran)
			f.tell("b", 21, ran)
			f.tell("a", 22, deleting)
			f.now = f.now.Add(time.Minute)
			f.tell("b", 23, deleting)
		}, "1 deleted of a; 1 stopped of b"},
		{"no more than parallelism", func(f *fold) {
			f.starts(events.ModeObserve)
			f.tell("a", 20, ran)
			f.tell("a", 21, deleting)
		}, "1 deleted of a"},
		{"stopped because the Job fails", func(f *fold) {
			f.tell("a", 20, ran)
			f.see(11, func(s *events.JobSeen) { s.Status = said(status.FailureTarget) })
			f.tell("a", 21, deleting)
		}, "1 stopped of a"},
		{"it fails by itself when the Job fails already", func(f *fold) {
			f.tell("a", 20, ran)
			f.see(11, func(s *events.JobSeen) { s.Status = said(status.FailureTarget) })
			f.tell("a", 21, ends(mainExit(3, "")))
		}, "1 failed regular main 3 of a"},
		{"a rule that ignores it", func(f *fold) {
			f.spec(f.ignoring)
			f.tell("a", 30, ends(mainExit(7, "")))
		}, "1 failed regular main 7  Ignore 0 of a"},
		{"containers that are started again", func(f *fold) {
			again := func(restarts uint32, containers ...events.ContainerEnd) func(*events.PodSeen, *events.Evidence) {
				return func(p *events.PodSeen, e *events.Evidence) { p.Restarts, e.Containers = restarts, containers }
			}
			crashed := func(name string, restarts uint32, code int32) events.ContainerEnd {
				return events.ContainerEnd{Name: name, ExitCode: code, Restarts: restarts, Again: true}
			}
			f.tell("a", 20, ran)
			f.tell("a", 21, again(1, crashed("main", 1, 3)))
			f.tell("a", 22, again(3, crashed("main", 3, 3)))
			f.tell("a", 23, again(5, crashed("main", 4, 3), crashed("b", 1, 4)))
		}, "2 restarted regular main 3 of a; 3 restarted of a"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			f := newFold()
			row.happens(f)
			if got := f.tried(); got != row.want {
				t.Errorf("told is\n\t%s\nwant\n\t%s", got, row.want)
			}
			facts, names, _ := f.world.StreamState(events.JobStream(job))
			w := projector.NewWorld()
			if err := w.RestoreStream(events.JobStream(job), facts, names); err != nil {
				t.Fatal(err)
			}
			if f.world = w; f.tried() != row.want || f.job().Partial {
				t.Errorf("restored it is\n\t%s, partial %v", f.tried(), f.job().Partial)
			}
		})
	}
}

// TestTriesTakeBoundedSpace: eight different ways to end are kept in full. Of further ways only kind and number are
// kept, and every try is counted.
func TestTriesTakeBoundedSpace(t *testing.T) {
	f := newFold()
	const n = 1000
	for i := range n {
		uid := types.UID(fmt.Sprint("pod-", i))
		switch i % 3 {
		case 0:
			f.tell(uid, uint64(20+i), disrupted(fmt.Sprint("Reason", i)))
		case 1:
			f.tell(uid, uint64(20+i), deleting)
		default:
			f.tell(uid, uint64(20+i), ends(mainExit(int32(i), "Error")))
		}
	}
	told := uint32(0)
	for _, e := range f.job().Ends {
		told += e.Count
	}
	if ways := len(f.job().Ends); ways > 8+6 || told != n {
		t.Errorf("%d tries of %d are told in %d ways", told, n, ways)
	}
}

// TestSuspensions: for how long a Job was suspended.
func TestSuspensions(t *testing.T) {
	f := newFold()
	suspend := func(is bool) func(*events.JobSpec) { return func(s *events.JobSpec) { s.Suspend = is } }
	until := func(want time.Duration) {
		t.Helper()
		if got := f.job().Suspended(f.now); got != want {
			t.Errorf("suspended for %s, want %s", got, want)
		}
	}
	f.now = f.now.Add(5 * time.Second)
	until(0)
	f.spec(suspend(true))
	f.now = f.now.Add(20 * time.Second)
	until(20 * time.Second)
	f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Hour})
	f.now = f.now.Add(time.Hour)
	until(20 * time.Second)
	f.spec(suspend(false))
	f.now = f.now.Add(7 * time.Second)
	until(20 * time.Second)
	f.spec(suspend(true))
	f.now = f.now.Add(time.Second)
	until(21 * time.Second)
}

// TestAStateWithoutNamesDoesNotTellTries: the evidence of a stored state may be erased. A world restored from it says
// that tries are missing.
func TestAStateWithoutNamesDoesNotTellTries(t *testing.T) {
	f := newFold()
	f.tell("a", 20, ends(mainExit(3, "")))
	stream := events.JobStream(job)
	facts, names, _ := f.world.StreamState(stream)
	for _, erased := range []bool{false, true} {
		if erased {
			names = nil
		}
		w := projector.NewWorld()
		if err := w.RestoreStream(stream, facts, names); err != nil {
			t.Fatal(err)
		}
		if got := w.Job(stream).Partial; got != erased {
			t.Errorf("erased: %t, and tries are missing: %t", erased, got)
		}
	}
}

// TestRetirement: the contents of the record by which a Job retires.
func TestRetirement(t *testing.T) {
	f := newFold()
	if got := *f.job().Retirement(); got != (events.JobRetired{}) {
		t.Errorf("a Job that goes on: %+v", got)
	}
	f.see(11, func(s *events.JobSeen) {
		s.Status = said(status.Failed)
		s.Status.Conditions[0].Reason, s.Status.Conditions[0].Since = "BackoffLimitExceeded", 2e18
		s.Status.Succeeded, s.Status.Failed, s.Status.StartTime = 1, 4, 1e18
	})
	want := events.JobRetired{Result: events.ResultFailed, Reason: "BackoffLimitExceeded", Succeeded: 1, Failed: 4, Started: 1e18, Finished: 2e18}
	if got := *f.job().Retirement(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
