package projector_test

import (
	"bytes"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

const job = types.UID("job")

// fold applies facts to the stream of a Job, one record for each.
type fold struct {
	world *projector.World
	seq   events.Sequence
	now   events.Time
}

func newFold() *fold {
	f := &fold{world: projector.NewWorld(), now: 1e18}
	settings := events.DefaultSettings()
	settings.Mode = events.ModeAll
	f.at(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: settings})
	three, six := int32(3), int32(6)
	f.record(events.KindSpecStored, &events.JobSpec{
		Hash: "h", Parallelism: &three, Completions: &three, CompletionMode: "Indexed", BackoffLimit: &six, Template: "t",
	})
	f.record(events.KindJobAdded, &events.JobSeen{
		Version: 10, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset},
	})
	return f
}

func (f *fold) record(kind events.Kind, facts events.Facts) { f.at(events.JobStream(job), kind, facts) }

func (f *fold) at(s events.Stream, kind events.Kind, facts events.Facts) {
	f.seq++
	f.world.Apply(&events.Record{
		Header: events.Header{Sequence: f.seq, Time: f.now, Stream: s, Kind: kind}, Facts: facts,
		Evidence: events.Evidence{Namespace: "ns", Name: "demo-0"},
	})
}

// decide folds a decision and returns the name of its first command.
func (f *fold) decide(commands ...events.Command) events.CommandID {
	f.record(events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: commands}}})
	return events.CommandID{Decided: f.seq}
}

func pod(change func(*events.PodSeen)) *events.PodSeen {
	p := &events.PodSeen{
		UID: "pod", Version: 20, Phase: events.PodRunning, Created: 1e18, Tracked: true, Owner: job, Selected: true,
		Index: 0, Ordinal: 1, Scheduled: true,
	}
	if change != nil {
		change(p)
	}
	return p
}

// TestOutcomeAndObservationComeInEitherOrder is design §2, invariant 6: an observation overrides any ending, so the
// state after both does not depend on which came first.
func TestOutcomeAndObservationComeInEitherOrder(t *testing.T) {
	zero, one := int32(0), int32(1)
	for _, row := range []struct {
		name    string
		before  func(*fold) // earlier records
		command events.Command
		kind    events.Kind
		seen    func(events.CommandID) events.Facts
		endings []events.CommandEnded
	}{
		{
			name:    "a pod is created",
			command: &events.CreatePod{Ordinal: 1, Index: 0, Template: "t"},
			kind:    events.KindPodAdded, seen: func(events.CommandID) events.Facts { return pod(nil) },
			endings: []events.CommandEnded{
				{Ending: events.Done, UID: "pod", Version: 19, Sent: true},
				{Ending: events.Done, UID: "pod", Version: 20, Sent: true},
			},
		},
		{
			name:    "a pod is deleted, and shows it",
			before:  func(f *fold) { f.record(events.KindPodAdded, pod(nil)) },
			command: &events.DeletePod{Pod: "pod"},
			kind:    events.KindPodChanged,
			seen: func(events.CommandID) events.Facts {
				return pod(func(p *events.PodSeen) { p.Version, p.Deleted = 21, 1e18 })
			},
			endings: []events.CommandEnded{{Ending: events.Done, UID: "pod", Sent: true}},
		},
		{
			name:    "a pod is deleted, and goes",
			before:  func(f *fold) { f.record(events.KindPodAdded, pod(nil)) },
			command: &events.DeletePod{Pod: "pod"},
			kind:    events.KindPodDeleted,
			seen:    func(events.CommandID) events.Facts { return &events.PodGone{UID: "pod", Version: 22} },
			endings: []events.CommandEnded{
				{Ending: events.Done, UID: "pod", Sent: true},
				{Ending: events.Refused, Class: events.RefusedNotFound, Sent: true},
				{Ending: events.Refused, Class: events.RefusedConflict, Sent: true},
			},
		},
		{
			name:    "a refused deletion is somebody else's",
			before:  func(f *fold) { f.record(events.KindPodAdded, pod(nil)) },
			command: &events.DeletePod{Pod: "pod"},
			kind:    events.KindPodChanged,
			seen: func(events.CommandID) events.Facts {
				return pod(func(p *events.PodSeen) { p.Version, p.Deleted = 21, 1e18 })
			},
			endings: []events.CommandEnded{
				{Ending: events.Refused, Class: events.RefusedForbidden, Sent: true}, {Ending: events.OutcomeUnknown, Sent: true},
			},
		},
		{
			name: "a finalizer that could not be removed goes",
			before: func(f *fold) {
				f.record(events.KindPodAdded, pod(func(p *events.PodSeen) { p.Phase, p.Finished = events.PodFailed, 1e18 }))
			},
			command: &events.DropFinalizer{Pod: "pod"},
			kind:    events.KindPodChanged,
			seen: func(events.CommandID) events.Facts {
				return pod(func(p *events.PodSeen) { p.Version, p.Phase, p.Finished, p.Tracked = 21, events.PodFailed, 1e18, false })
			},
			endings: []events.CommandEnded{
				{Ending: events.Refused, Class: events.RefusedForbidden, Sent: true}, {Ending: events.OutcomeUnknown, Sent: true},
			},
		},
		{
			name: "a finalizer goes",
			before: func(f *fold) {
				f.record(events.KindPodAdded, pod(func(p *events.PodSeen) { p.Phase, p.Finished = events.PodFailed, 1e18 }))
			},
			command: &events.DropFinalizer{Pod: "pod"},
			kind:    events.KindPodChanged,
			seen: func(events.CommandID) events.Facts {
				return pod(func(p *events.PodSeen) { p.Version, p.Phase, p.Finished, p.Tracked = 21, events.PodFailed, 1e18, false })
			},
			endings: []events.CommandEnded{
				{Ending: events.Done, UID: "pod", Version: 21, Sent: true},
				{Ending: events.Done, UID: "pod", Version: 20, Sent: true}, // of the last finalizer of a pod that is deleted
			},
		},
		{
			name: "a pod is adopted",
			before: func(f *fold) {
				f.record(events.KindPodAdded, pod(func(p *events.PodSeen) {
					p.Owner, p.Selected, p.Ordinal, p.Candidates = "", false, 0, []types.UID{job}
				}))
			},
			command: &events.AdoptPod{Pod: "pod", Version: 20},
			kind:    events.KindPodChanged,
			seen: func(events.CommandID) events.Facts {
				return pod(func(p *events.PodSeen) { p.Version, p.Ordinal = 21, 0 })
			},
			endings: []events.CommandEnded{{Ending: events.Done, UID: "pod", Version: 21, Sent: true}},
		},
		{
			name: "a pod is to be adopted, and changes first",
			before: func(f *fold) {
				f.record(events.KindPodAdded, pod(func(p *events.PodSeen) {
					p.Owner, p.Selected, p.Candidates = "", false, []types.UID{job}
				}))
			},
			command: &events.AdoptPod{Pod: "pod", Version: 20},
			kind:    events.KindPodChanged,
			seen: func(events.CommandID) events.Facts {
				return pod(func(p *events.PodSeen) {
					p.Version, p.Owner, p.Selected, p.Candidates = 21, "", false, []types.UID{job}
				})
			},
			endings: []events.CommandEnded{
				{Ending: events.Refused, Class: events.RefusedConflict, Sent: true},
				{Ending: events.Refused, Class: events.RefusedForbidden, Sent: true},
				{Ending: events.OutcomeUnknown, Sent: true},
			},
		},
		{
			name: "a pod is released",
			before: func(f *fold) {
				f.record(events.KindPodAdded, pod(func(p *events.PodSeen) { p.Selected = false }))
			},
			command: &events.ReleasePod{Pod: "pod", Version: 20},
			kind:    events.KindPodChanged,
			seen: func(events.CommandID) events.Facts {
				return pod(func(p *events.PodSeen) { p.Version, p.Owner, p.Selected, p.Tracked = 21, "", false, false })
			},
			endings: []events.CommandEnded{{Ending: events.Done, UID: "pod", Version: 21, Sent: true}},
		},
		{
			name:    "a status is written, and confirmed by the watch",
			command: &events.WriteStatus{Base: 10, Change: events.StatusChange{Active: &one, Ready: &zero, Terminating: &zero, InitUncounted: true}},
			kind:    events.KindJobChanged,
			seen: func(name events.CommandID) events.Facts {
				return &events.JobSeen{Version: 11, Managed: true, Spec: "h", SpecAt: 2, Confirms: name}
			},
			endings: []events.CommandEnded{{Ending: events.Done, UID: job, Version: 11, Sent: true}},
		},
		{
			name:    "a status is written, and then written over by somebody",
			command: &events.WriteStatus{Base: 10, Change: events.StatusChange{Active: &one, InitUncounted: true}},
			kind:    events.KindJobChanged,
			seen: func(events.CommandID) events.Facts {
				return &events.JobSeen{Version: 12, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{
					Active: 7, Ready: 0, Terminating: 0, HasUncounted: true, CompletedIndexes: "2", Succeeded: 1,
				}}
			},
			endings: []events.CommandEnded{{Ending: events.Done, UID: job, Version: 11, Sent: true}},
		},
	} {
		for i, ending := range row.endings {
			t.Run(fmt.Sprintf("%s/%d", row.name, i), func(t *testing.T) {
				state := func(outcomeFirst bool) ([]byte, []byte) {
					f := newFold()
					if row.before != nil {
						row.before(f)
					}
					name := f.decide(row.command)
					ended := ending
					ended.Command = name
					if outcomeFirst {
						f.record(events.KindCommandEnded, &ended)
						f.record(row.kind, row.seen(name))
					} else {
						f.record(row.kind, row.seen(name))
						f.record(events.KindCommandEnded, &ended)
					}
					facts, names, ok := f.world.StreamState(events.JobStream(job))
					if !ok {
						t.Fatal("the Job is no longer there")
					}
					return facts, names
				}
				a, an := state(true)
				b, bn := state(false)
				if !bytes.Equal(a, b) || !bytes.Equal(an, bn) {
					t.Errorf("the outcome first gives another state than the observation first")
				}
			})
		}
	}
}
