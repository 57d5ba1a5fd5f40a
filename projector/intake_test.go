package projector_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
)

// listedJob returns the Job as a list or a watch shows it, with the spec that the log has stored.
func listedJob(f *fold, change func(*events.Observation, *events.JobSeen)) *events.Observation {
	six, three := int32(6), int32(3)
	seen := &events.JobSeen{Version: f.job().Version, Managed: true, Spec: "h", Status: f.job().Base.Record()}
	o := &events.Observation{
		Job: events.JobRef{Namespace: "ns", Name: "demo", UID: job}, Facts: seen, Evidence: events.Evidence{Namespace: "ns", Name: "demo"},
		Spec: &events.JobSpec{
			Hash: "h", Parallelism: &three, Completions: &three, CompletionMode: "Indexed", BackoffLimit: &six, Template: "t",
		},
	}
	if change != nil {
		change(o, seen)
	}
	return o
}

// withParts returns a newer version of the Job with another spec, made of the given redacted template and policies.
func withParts(f *fold, spec, template, policies string) *events.Observation {
	return listedJob(f, func(o *events.Observation, s *events.JobSeen) {
		s.Version, s.Spec, o.Spec.Hash = 11, spec, spec
		o.Spec.Redacted, o.Spec.Policies, o.Spec.SuccessPolicy = template, policies, `{"rules":[]}`
	})
}

// listedPod returns the pod as a list or a watch shows it.
func listedPod(change func(*events.PodSeen)) *events.Observation {
	seen := pod(change)
	o := &events.Observation{Facts: seen, Evidence: events.Evidence{Namespace: "ns", Name: "demo-0", Node: "node-1"}}
	if seen.Owner != "" {
		o.Job = events.JobRef{Namespace: "ns", Name: "demo", UID: seen.Owner}
	}
	return o
}

// admits returns the drafts that the observations lead to, one after the other, as text. It folds none of them.
func (f *fold) admits(all ...*events.Observation) string {
	in := intake.Intake{World: f.world, FileStart: 1}
	return f.admitsTo(&in, all...)
}

func (f *fold) admitsTo(in *intake.Intake, all ...*events.Observation) string {
	var said []string
	for _, o := range all {
		for _, d := range in.Admit(o, f.seq+1) {
			said = append(said, draftText(&d))
		}
	}
	return strings.Join(said, ", ")
}

func draftText(d *projector.Draft) string {
	text := fmt.Sprintf("%s in %s", d.Kind, d.Stream)
	switch s := d.Facts.(type) {
	case *events.JobSeen:
		text += fmt.Sprintf(" at %d with spec of %d", s.Version, s.SpecAt)
		if s.Status != nil {
			text += fmt.Sprintf(" and status, %d failed", s.Status.Failed)
		}
		if s.Confirms != (events.CommandID{}) {
			text += fmt.Sprintf(" confirms %d", s.Confirms.Decided)
		}
	case *events.JobGone:
		text += fmt.Sprintf(" at %d missed %v", s.Version, s.Missed)
	case *events.PodSeen:
		text += fmt.Sprintf(" at %d", s.Version)
	case *events.PodGone:
		text += fmt.Sprintf(" at %d missed %v moved %v", s.Version, s.Missed, s.Moved)
	case *events.ListingStarted, *events.Synced:
		return d.Kind.String()
	}
	e := &d.Evidence
	for _, name := range []string{e.Namespace, e.Name, e.Node, e.Owner} {
		text += " " + name
	}
	if len(d.Causes) > 0 {
		text += fmt.Sprintf(" because of %d", d.Causes)
	}
	return strings.Join(strings.Fields(text), " ")
}

// TestWhatIsSeenOfAJobIsRecorded: a version of a Job is recorded only if it says something that the log does not know,
// and the record has only that.
func TestWhatIsSeenOfAJobIsRecorded(t *testing.T) {
	checkFacts(t, []fact{
		{"nothing of what is known already", func(f *fold) string {
			return f.admits(listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version = 11 }))
		}, ""},
		{"without the status that is known", func(f *fold) string {
			return f.admits(listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version, s.Deleted = 11, 1e18 }))
		}, "JobChanged in job/job at 11 with spec of 2 ns demo"},
		{"with another one", func(f *fold) string {
			return f.admits(listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version, s.Status.Failed = 11, 7 }))
		}, "JobChanged in job/job at 11 with spec of 2 and status, 7 failed ns demo"},
		{"with a spec that nobody has stored", func(f *fold) string {
			return f.admits(listedJob(f, func(o *events.Observation, s *events.JobSeen) { s.Version, s.Spec, o.Spec.Hash = 11, "new", "new" }))
		}, "SpecStored in job/job, JobChanged in job/job at 11 with spec of 4 ns demo"},
		{"with a spec that only an older file stores", func(f *fold) string {
			in := intake.Intake{World: f.world, FileStart: 3}
			return f.admitsTo(&in, listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version, s.Deleted = 11, 1e18 }))
		}, "SpecStored in job/job, JobChanged in job/job at 11 with spec of 4 ns demo"},
		{"with the parts of a spec that nobody has stored before it, and that are its causes", func(f *fold) string {
			return f.admits(withParts(f, "new", "template", "policies"))
		}, "TemplateStored in job/job, PoliciesStored in job/job, SpecStored in job/job because of [4 5], JobChanged in job/job at 11 with spec of 6 ns demo"},
		{"without those that the file stores", func(f *fold) string {
			f.record(events.KindTemplateStored, &events.JobTemplate{Hash: "template"})
			f.record(events.KindPoliciesStored, &events.JobPolicies{Hash: "policies"})
			return f.admits(withParts(f, "new", "template", "policies"), withParts(f, "new", "other", "policies"), withParts(f, "new", "template", ""))
		}, "SpecStored in job/job because of [4 5], JobChanged in job/job at 11 with spec of 6 ns demo, " +
			"TemplateStored in job/job, SpecStored in job/job because of [5 6], JobChanged in job/job at 11 with spec of 7 ns demo, " +
			"SpecStored in job/job because of [4], JobChanged in job/job at 11 with spec of 6 ns demo"},
		{"with those that only an older file stores", func(f *fold) string {
			f.record(events.KindTemplateStored, &events.JobTemplate{Hash: "template"})
			f.record(events.KindPoliciesStored, &events.JobPolicies{Hash: "policies"})
			in := intake.Intake{World: f.world, FileStart: 5}
			return f.admitsTo(&in, withParts(f, "new", "template", "policies"))
		}, "TemplateStored in job/job, SpecStored in job/job because of [5 6], JobChanged in job/job at 11 with spec of 7 ns demo"},
		{"one that was taken for gone is there", func(f *fold) string {
			f.pod(nil)
			f.record(events.KindJobDeleted, &events.JobGone{Version: 9, Missed: true})
			return f.admits(listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version = 11 }))
		}, "JobChanged in job/job at 11 with spec of 2 ns demo"},
		{"J-235: after a conflict the newer version is recorded, whatever it says", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), refused(events.RefusedConflict))
			return f.admits(listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version = 11 }))
		}, "JobChanged in job/job at 11 with spec of 2 ns demo"},
		{"J-237: a version that was read because one is wanted is recorded, though it is the one that is known", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), unknown)
			return f.admits(listedJob(f, nil))
		}, "JobChanged in job/job at 10 with spec of 2 ns demo"},
		{"after a restart with a create in doubt the same version is no news, a newer one is", func(f *fold) string {
			f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"})
			f.restart(nil)
			return f.admits(listedJob(f, nil), listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version = 11 }))
		}, "JobChanged in job/job at 11 with spec of 2 ns demo"},
		{"the status that is being written confirms the write", func(f *fold) string {
			f.decide(&events.WriteStatus{Base: 10, Change: failing})
			after := f.job().Base.With(&failing)
			return f.admits(listedJob(f, func(_ *events.Observation, s *events.JobSeen) { s.Version, s.Status = 11, after.Record() }))
		}, "JobChanged in job/job at 11 with spec of 2 confirms 4 ns demo"},
		{"the end of one that nobody knows is no news", func(f *fold) string {
			return f.admits(&events.Observation{Job: events.JobRef{UID: "other"}, Facts: &events.JobGone{Version: 30}})
		}, ""},
		{"nor that of one that is gone", func(f *fold) string {
			f.pod(nil)
			f.record(events.KindJobDeleted, &events.JobGone{Version: 30})
			return f.admits(&events.Observation{Job: events.JobRef{UID: job}, Facts: &events.JobGone{Version: 31}})
		}, ""},
	})
}

// TestWhatAListingDoesNotShowIsGone: an object that is absent from a list is gone, unless the log knows a version of it
// that is newer than the list (design §5).
func TestWhatAListingDoesNotShowIsGone(t *testing.T) {
	began := func(all ...events.Resource) *events.Observation {
		return &events.Observation{Facts: &events.ListingStarted{Resources: all}}
	}
	synced := func(r events.Resource, version uint64) *events.Observation {
		return &events.Observation{Facts: &events.Synced{Resources: []events.Resource{r}, Versions: []uint64{version}}}
	}
	checkFacts(t, []fact{
		{"a Job, by a list as old as what is known of it", func(f *fold) string {
			return f.admits(began(events.Jobs), synced(events.Jobs, 10))
		}, "ListingStarted, JobDeleted in job/job at 10 missed true ns demo-0, Synced"},
		{"not by an older one", func(f *fold) string {
			return f.admits(began(events.Jobs), synced(events.Jobs, 9))
		}, "ListingStarted, Synced"},
		{"a pod, by a list as old as what is known of it", func(f *fold) string {
			f.pod(nil)
			return f.admits(began(events.Pods), synced(events.Pods, 20))
		}, "ListingStarted, PodDeleted in job/job at 20 missed true moved false ns demo-0, Synced"},
		{"not by an older one", func(f *fold) string {
			f.pod(nil)
			return f.admits(began(events.Pods), synced(events.Pods, 19))
		}, "ListingStarted, Synced"},
		{"a list of Jobs goes on while one of pods begins", func(f *fold) string {
			return f.admits(began(events.Jobs), began(events.Pods), synced(events.Jobs, 10))
		}, "ListingStarted, ListingStarted, JobDeleted in job/job at 10 missed true ns demo-0, Synced"},
		{"finished Jobs of which only a stub is kept, in the order of their newest records", func(f *fold) string {
			for _, uid := range strings.Fields("m f x c k a t b z d y e") {
				f.stub(uid, 30)
			}
			said := f.admits(began(events.Jobs), listedJob(f, nil), synced(events.Jobs, 30))
			return strings.NewReplacer("JobDeleted in job/", "", " at 30 missed true ns demo-0", "").Replace(said)
		}, "ListingStarted, m, f, x, c, k, a, t, b, z, d, y, e, Synced"},
		{"nor one of those, by an older list", func(f *fold) string {
			f.stub("other", 30)
			return f.admits(began(events.Jobs), listedJob(f, nil), synced(events.Jobs, 29))
		}, "ListingStarted, Synced"},
	})
}

// stub leaves a finished, retired Job, known at that version.
func (f *fold) stub(uid string, version uint64) {
	complete := []events.JobCondition{{Type: status.Complete, Status: "True", Since: 1e18}}
	s := events.JobStream(types.UID(uid))
	f.at(s, events.KindJobAdded, &events.JobSeen{
		Version: version, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{Conditions: complete},
	})
	f.at(s, events.KindJobRetired, &events.JobRetired{})
}

// TestWhatIsSeenOfAPodIsRecorded: the same for versions of pods.
func TestWhatIsSeenOfAPodIsRecorded(t *testing.T) {
	nobodys := both(orphan, version(21))
	checkFacts(t, []fact{
		{"for the first time, with its names", func(f *fold) string {
			return f.admits(listedPod(nil))
		}, "PodAdded in job/job at 20 ns demo-0 node-1"},
		{"of a Job that nobody has seen, with that one's name too", func(f *fold) string {
			return f.admits(listedPod(func(p *events.PodSeen) { p.Owner = "other" }))
		}, "PodAdded in job/other at 20 ns demo-0 node-1 demo"},
		{"and of one of which only another pod is known", func(f *fold) string {
			f.at(events.JobStream("other"), events.KindPodAdded, pod(func(p *events.PodSeen) { p.UID, p.Owner = "first", "other" }))
			return f.admits(listedPod(func(p *events.PodSeen) { p.Owner = "other" }))
		}, "PodAdded in job/other at 20 ns demo-0 node-1 demo"},
		{"not without our finalizer, of a Job that nobody knows", func(f *fold) string {
			return f.admits(listedPod(func(p *events.PodSeen) { p.Owner, p.Tracked = "other", false }))
		}, ""},
		{"not of somebody else's controller, though it has our finalizer", func(f *fold) string {
			return f.admits(listedPod(func(p *events.PodSeen) { p.Owner, p.Foreign = "", true }))
		}, ""},
		{"with the decision that asked for it", func(f *fold) string {
			f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"})
			return f.admits(listedPod(nil))
		}, "PodAdded in job/job at 20 ns demo-0 node-1 because of [4]"},
		{"but not while nobody asks", func(f *fold) string {
			f.end(f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"}), unknown)
			return f.admits(listedPod(nil))
		}, "PodAdded in job/job at 20 ns demo-0 node-1"},
		{"nothing of what is known already", func(f *fold) string {
			f.pod(nil)
			return f.admits(listedPod(version(21)))
		}, ""},
		{"nor when its finalizer has gone", func(f *fold) string {
			f.pod(func(p *events.PodSeen) { p.Tracked = false })
			return f.admits(listedPod(both(version(21), func(p *events.PodSeen) { p.Tracked = false })))
		}, ""},
		{"nor of an older version", func(f *fold) string {
			f.pod(nil)
			return f.admits(listedPod(both(failed, version(19))))
		}, ""},
		{"that it is there, in the version in which it was made", func(f *fold) string {
			f.end(f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"}), done("pod", 20))
			return f.admits(listedPod(nil))
		}, "PodAdded in job/job at 20 ns demo-0 node-1"},
		{"and once that is known, with a node that is news", func(f *fold) string {
			f.pod(nil)
			return f.admits(listedPod(both(failed, version(21))))
		}, "PodChanged in job/job at 21 demo-0 node-1"},
		{"and with none that is known", func(f *fold) string {
			f.pod(nil)
			f.job().Pod("pod").Node = "node-1"
			return f.admits(listedPod(both(failed, version(21))))
		}, "PodChanged in job/job at 21 demo-0"},
		{"its finalizer is gone, as the server has said", func(f *fold) string {
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			return f.admits(listedPod(both(failed, version(21), func(p *events.PodSeen) { p.Tracked = false })))
		}, ""},
		{"not that it is still there, in a version from before the server said that it is gone", func(f *fold) string {
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			return f.admits(listedPod(both(failed, version(21))))
		}, ""},
		{"J-100: that it is there again, in a newer version", func(f *fold) string {
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 21))
			return f.admits(listedPod(both(failed, version(22))))
		}, "PodChanged in job/job at 22 demo-0 node-1"},
		{"J-174: a newer version of one that is to be released, whatever it says", func(f *fold) string {
			f.pod(disowned)
			return f.admits(listedPod(both(disowned, version(20))), listedPod(both(disowned, version(21))))
		}, "PodChanged in job/job at 21 demo-0 node-1"},
		{"J-175: or of one that nobody owns", func(f *fold) string {
			f.pod(both(orphan, func(p *events.PodSeen) { p.Selected = true }))
			same := both(orphan, func(p *events.PodSeen) { p.Selected = true })
			return f.admits(listedPod(same), listedPod(both(same, version(21))))
		}, "PodChanged in job/job at 21 demo-0 node-1"},
		{"the same version of one that was seen before its Job: whether the selector matches is known now", func(f *fold) string {
			other := func(p *events.PodSeen) { p.Owner, p.Selected = "other", false }
			s := events.JobStream("other")
			f.at(s, events.KindPodAdded, pod(other))
			f.at(s, events.KindJobAdded, &events.JobSeen{Version: 30, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}})
			return f.admits(listedPod(other))
		}, "PodChanged in job/other at 20 demo-0 node-1"},
		{"J-178: that it is nobody's any more takes it away", func(f *fold) string {
			f.pod(nil)
			return f.admits(listedPod(func(p *events.PodSeen) { p.Version, p.Owner, p.Foreign = 21, "", true }))
		}, "PodDeleted in job/job at 21 missed false moved true ns demo-0 node-1"},
		{"but not an older version", func(f *fold) string {
			f.pod(nil)
			return f.admits(listedPod(func(p *events.PodSeen) { p.Version, p.Owner, p.Foreign = 19, "", true }))
		}, ""},
		{"the version that is known does, when whose it is is judged otherwise", func(f *fold) string {
			f.pod(nobodys)
			f.see(30, func(s *events.JobSeen) { s.Managed = false })
			return f.admits(listedPod(both(nobodys, func(p *events.PodSeen) { p.Tracked = false })))
		}, "PodDeleted in job/job at 21 missed false moved true ns demo-0 node-1"},
		{"one that waited in its namespace for a Job waits no longer", func(f *fold) string {
			waits := func(p *events.PodSeen) {
				p.Owner, p.Selected, p.Tracked, p.Candidates = "", false, false, []types.UID{"late"}
			}
			f.at(events.NamespaceStream("ns"), events.KindPodAdded, pod(waits))
			return f.admits(listedPod(both(waits, func(p *events.PodSeen) { p.Version, p.Candidates = 21, nil })))
		}, "PodDeleted in namespace/ns at 21 missed false moved true ns demo-0 node-1"},
	})
}

// TestTheEndOfAPodNamesIt: an informer that finds a pod absent from a list knows only its UID. The record names the pod
// as the log knew it, for people who read the record when the pod is long gone.
func TestTheEndOfAPodNamesIt(t *testing.T) {
	gone := func(name string) *events.Observation {
		return &events.Observation{
			Facts: &events.PodGone{UID: "pod", Version: 30, Missed: true}, Evidence: events.Evidence{Namespace: "ns", Name: name},
		}
	}
	checkFacts(t, []fact{
		{"as the log knew it", func(f *fold) string {
			f.pod(nil)
			return f.admits(gone(""))
		}, "PodDeleted in job/job at 30 missed true moved false ns demo-0"},
		{"as the informer does, when it knows", func(f *fold) string {
			f.pod(nil)
			return f.admits(gone("renamed"))
		}, "PodDeleted in job/job at 30 missed true moved false ns renamed"},
		{"of one that was gone while a status write accounted for it, and is back", func(f *fold) string {
			f.plain()
			f.pod(failed)
			f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}})
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 25, Missed: true})
			while := f.admits(gone(""))
			f.pod(both(failed, version(26)))
			return while + f.admits(gone(""))
		}, "PodDeleted in job/job at 30 missed true moved false ns demo-0"},
		{"that of one that nobody knows is no news", func(f *fold) string {
			return f.admits(gone("demo-0"))
		}, ""},
	})
}
