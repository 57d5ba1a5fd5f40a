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

// TestWhatTheLogSaysOfItsController: the state of the controller's own stream.
func TestWhatTheLogSaysOfItsController(t *testing.T) {
	listing := func(f *fold, all ...events.Resource) {
		f.at(events.Controller, events.KindListingStarted, &events.ListingStarted{Resources: all})
	}
	synced := func(f *fold, r events.Resource, version uint64) {
		f.at(events.Controller, events.KindSynced, &events.Synced{Resources: []events.Resource{r}, Versions: []uint64{version}})
	}
	newest := func(f *fold) string {
		return fmt.Sprint(f.world.Newest(events.Jobs), f.world.Newest(events.Pods))
	}
	checkFacts(t, []fact{
		{"which log it is, and which life of it", func(f *fold) string {
			f.at(events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f", Epoch: 1})
			before := f.world.Identity
			f.at(events.Controller, events.KindEpochChanged, &events.EpochChanged{Epoch: 2})
			return fmt.Sprint(before, f.world.Identity)
		}, "0f.1 0f.2"},
		{"after a rewind of the cluster nothing but that, until everything has been listed anew", func(f *fold) string {
			f.pod(nil)
			f.stub("stub", 30)
			f.decide(&events.WriteStatus{})
			f.at(events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f", Epoch: 1})
			f.at(events.Controller, events.KindEpochChanged, &events.EpochChanged{Epoch: 2, Reason: events.EpochClusterRewound})
			return fmt.Sprintln(f.world.Identity, f.world.Len(), f.world.Stubs(), newest(f), f.world.Listing, f.world.Previous(events.JobStream(job)))
		}, "0f.2 0 0 0 0 true 0\n"},
		{"its newest record, and when that was", func(f *fold) string {
			f.now += 5e9
			f.pod(nil)
			return fmt.Sprint(f.world.Head == f.seq, f.in(f.world.Now))
		}, "true 0s"},
		{"also when the clock was set back", func(f *fold) string {
			f.now -= 60e9
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: -time.Minute})
			return fmt.Sprint(f.in(f.world.Now))
		}, "0s"},
		{"the newest record of each stream, of which nobody else's is one", func(f *fold) string {
			f.stub("stub", 30)
			return fmt.Sprint(f.world.Previous(events.Controller), f.world.Previous(events.JobStream(job)),
				f.world.Previous(events.JobStream("stub")), f.world.Previous(events.JobStream("none")))
		}, "1 3 5 0"},
		{"J-020: nothing is decided until all that a listing is of has been listed", func(f *fold) string {
			listing(f, events.Jobs, events.Pods)
			all := f.world.Listing
			synced(f, events.Jobs, 30)
			one := f.world.Listing
			synced(f, events.Pods, 30)
			return fmt.Sprint(all, one, f.world.Listing)
		}, "true true false"},
		{"nor while it waits for another one, of a listing that began twice once", func(f *fold) string {
			listing(f, events.Jobs)
			listing(f, events.Pods)
			size := len(f.world.ControllerState())
			listing(f, events.Jobs)
			again := len(f.world.ControllerState()) - size
			synced(f, events.Jobs, 30)
			return fmt.Sprint(again, f.world.Listing)
		}, "0 true"},
		{"nor after a stop", func(f *fold) string {
			f.at(events.Controller, events.KindControllerStopped, &events.ControllerStopped{})
			return fmt.Sprint(f.world.Listing)
		}, "true"},
		{"a Job's own time does not go on with what concerns it not", func(f *fold) string {
			f.now += 5e9
			listing(f, events.Jobs)
			return fmt.Sprint(f.in(f.job().Now))
		}, "-5s"},
		{"the newest version of a Job that was seen", func(f *fold) string {
			f.see(40, nil)
			f.see(30, nil)
			return newest(f)
		}, "40 0"},
		{"or that the answer to a write brought", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{}), done(job, 50))
			return newest(f)
		}, "50 0"},
		{"or of one that is gone", func(f *fold) string {
			f.pod(nil)
			f.record(events.KindJobDeleted, &events.JobGone{Version: 40})
			f.record(events.KindJobDeleted, &events.JobGone{Version: 30})
			return newest(f)
		}, "40 20"},
		{"the newest version of a pod that was seen", func(f *fold) string {
			f.pod(version(40))
			f.pod(both(version(30), func(p *events.PodSeen) { p.UID = "other" }))
			return newest(f)
		}, "10 40"},
		{"or of one that is gone", func(f *fold) string {
			f.pod(nil)
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 40})
			f.record(events.KindPodDeleted, &events.PodGone{UID: "other", Version: 30})
			return newest(f)
		}, "10 40"},
		{"or of a list", func(f *fold) string {
			listing(f, events.Jobs, events.Pods)
			synced(f, events.Jobs, 50)
			synced(f, events.Pods, 40)
			synced(f, events.Pods, 30)
			return newest(f)
		}, "50 40"},
	})
}

// TestWhichStreamsTheWorldHolds: those with something left to do or to know.
func TestWhichStreamsTheWorldHolds(t *testing.T) {
	other := events.JobStream("other")
	streams := func(f *fold) string {
		var said []string
		for _, s := range f.world.Streams() {
			said = append(said, s.ID)
		}
		return fmt.Sprintf("%s, %d and %d", strings.Join(said, " "), f.world.Len(), f.world.Stubs())
	}
	theirs := func(p *events.PodSeen) { p.Owner = "other" }
	goes := func(f *fold) { f.at(other, events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 30}) }
	checkFacts(t, []fact{
		{"in the order in which they began, stubs last and by UID", func(f *fold) string {
			for _, uid := range strings.Fields("m f x c k a t b z d y e") {
				f.stub("s"+uid, 30)
				f.at(events.JobStream(types.UID(uid)), events.KindPodAdded, pod(func(p *events.PodSeen) { p.UID, p.Owner = types.UID("p"+uid), types.UID(uid) }))
			}
			return streams(f)
		}, "job m f x c k a t b z d y e sa sb sc sd se sf sk sm st sx sy sz, 13 and 12"},
		{"J-098: a Job that nobody has seen, while there are pods of it", func(f *fold) string {
			f.at(other, events.KindPodAdded, pod(theirs))
			before := streams(f)
			goes(f)
			return before + "; " + streams(f)
		}, "job other, 2 and 0; job, 1 and 0"},
		{"or it is being read", func(f *fold) string {
			f.at(other, events.KindPodAdded, pod(theirs))
			f.at(other, events.KindDecided, &events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.ReadJob{}}}}})
			name := events.CommandID{Decided: f.seq}
			goes(f)
			before := streams(f)
			f.at(other, events.KindCommandEnded, &events.CommandEnded{Command: name, Ending: events.Refused, Class: events.RefusedServer, Sent: true})
			return before + "; " + streams(f)
		}, "job other, 2 and 0; job, 1 and 0"},
		{"what comes late of a Job that is over opens nothing", func(f *fold) string {
			f.at(other, events.KindCommandEnded, &events.CommandEnded{Command: events.CommandID{Decided: 2}, Ending: events.Done, Sent: true})
			return streams(f)
		}, "job, 1 and 0"},
		{"a Job that is gone leaves no stub", func(f *fold) string {
			f.record(events.KindJobDeleted, &events.JobGone{Version: 30})
			return streams(f)
		}, ", 0 and 0"},
		{"a stub goes with its Job", func(f *fold) string {
			f.stub("other", 30)
			before := streams(f)
			f.at(other, events.KindJobDeleted, &events.JobGone{Version: 31})
			return before + "; " + streams(f)
		}, "job other, 1 and 1; job, 1 and 0"},
		{"or when there is more to say of it", func(f *fold) string {
			f.stub("other", 30)
			f.at(other, events.KindPodAdded, pod(theirs))
			return streams(f)
		}, "job other, 2 and 0"},
		{"a Job whose new spec nobody has stored keeps the one it had", func(f *fold) string {
			f.see(30, func(s *events.JobSeen) { s.Spec = "lost" })
			return f.job().Spec.Hash
		}, "h"},
	})
}

// TestWhatIsKeptOfAFinishedJob: its TTL, and the time from which it counts (J-012).
func TestWhatIsKeptOfAFinishedJob(t *testing.T) {
	stub := func(f *fold, ttl *int32, conditions ...events.JobCondition) string {
		f.record(events.KindSpecStored, &events.JobSpec{Hash: "kept", Template: "t", TTLSecondsAfterFinished: ttl})
		f.see(30, func(s *events.JobSeen) {
			s.Spec, s.SpecAt, s.Status = "kept", f.seq, &events.JobStatus{Conditions: conditions}
		})
		f.record(events.KindJobRetired, &events.JobRetired{})
		s := f.world.Retired(events.JobStream(job))
		ok := f.world.Subject(s.ID()) == projector.Subject(s) && f.world.Job(s.ID()) == nil && s.Phase() == projector.PhaseRetired
		return fmt.Sprint(s.Ref.Name, " ", s.Version, " ", s.Finished, " ", s.TTL == events.Unset, " ", s.TTL, " ", s.Head == f.seq, " ", ok)
	}
	seconds := int32(30)
	complete := events.JobCondition{Type: status.Complete, Status: "True", Since: 7}
	failed := events.JobCondition{Type: status.Failed, Status: "True", Since: 8}
	checkFacts(t, []fact{
		{"for as long as its spec says, from its completion on", func(f *fold) string {
			return stub(f, &seconds, complete)
		}, "demo-0 30 7 false 30 true true"},
		{"from its failure on", func(f *fold) string {
			return stub(f, &seconds, failed)
		}, "demo-0 30 8 false 30 true true"},
		{"not from when it was said not to be so", func(f *fold) string {
			not := events.JobCondition{Type: status.Failed, Status: "False", Since: 9}
			return stub(f, &seconds, complete, not)
		}, "demo-0 30 7 false 30 true true"},
		{"for ever", func(f *fold) string {
			return stub(f, nil, complete)
		}, fmt.Sprintf("demo-0 30 7 true %d true true", events.Unset)},
	})
}
