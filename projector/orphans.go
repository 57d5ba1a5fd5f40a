package projector

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// A pod without an owner is at home in one stream, so that what is decided about it depends on that stream alone
// (docs/design/0004-claiming-pods.md):
//
//	in the stream of                             while
//	-------------------------------------------  -----------------------------------------------------------
//	the Job where it is                          a command about the pod is in flight, or a status write that
//	                                             accounts for it: what comes of them must not reach it elsewhere
//	the Job that made it                         it does not know yet what came of its create
//	the Job that is to adopt it                  one may: of several see before
//	the Job that it was                          it carries the finalizer, which that Job removes
//	its namespace                                a Job that might adopt it is not known yet, or it carries the
//	                                             finalizer, which is removed
//	none                                         neither is so
//
// The intake finds the place whenever the pod is seen, and Follow when something else changed it.

// routeOrphan finds the stream of a pod without an owner, and its facts as they are recorded there.
func (in *Intake) routeOrphan(namespace string, f *events.PodSeen) (facts *events.PodSeen, stream events.Stream, ours bool) {
	home, was := in.World.whereIs(f.UID)
	holder, is := home.(*Job)
	if !is {
		was = nil
	}
	if was != nil && (was.Claim() != nil || was.Drop() != nil || was.Delete() != nil || was.written || holder.removes(was)) {
		return f, holder.Stream, true
	}
	if maker := in.World.Job(events.JobStream(f.Maker)); maker != nil && maker.create(f.Ordinal) != nil {
		return f, maker.Stream, true // whose create it settles
	}
	if f.Deleted == 0 { // else it is never adopted (J-178)
		if j := in.adopter(f); j != nil {
			return f, j.Stream, true
		}
	}
	if was != nil && f.Tracked && (holder.Gone || !holder.Known() || in.manages(holder) && !in.leaves(holder)) {
		return f, holder.Stream, true
	}
	kept := *f
	kept.Candidates = nil
	if f.Deleted == 0 {
		for _, uid := range f.Candidates {
			if in.unknown(uid) {
				kept.Candidates = append(kept.Candidates, uid)
			}
		}
	}
	return &kept, events.NamespaceStream(namespace), f.Tracked || len(kept.Candidates) > 0
}

// adopter is the Job that is to adopt the pod: of its candidates the oldest that may, then the lowest UID, but one that
// was refused it after all others. nil when there is none. Of a Job that is only looked at nothing is asked, so a pod
// that carries our finalizer would keep it there: it is not there.
func (in *Intake) adopter(f *events.PodSeen) *Job {
	var first *Job
	for _, uid := range f.Candidates {
		j := in.World.Job(events.JobStream(uid))
		if j == nil || !j.Eligible() || !in.manages(j) || f.Tracked && in.leaves(j) {
			continue
		}
		if first == nil || j.adoptsBefore(first, f.UID) {
			first = j
		}
	}
	return first
}

// manages reports whether the Job is ours, or observed, by its own account and by the settings in force.
func (in *Intake) manages(j *Job) bool {
	return j.Managed && in.World.Settings.Records(j.ManagedBy)
}

// leaves reports whether the Job is another controller's, and ours are beside it: nothing is ever asked for it.
func (in *Intake) leaves(j *Job) bool {
	return in.World.Settings.Mode == events.ModeDelegated && in.World.Settings.Observes(j.ManagedBy)
}

// adoptsBefore: that others are looked at does not change what we do, so a Job that we run comes first.
func (j *Job) adoptsBefore(o *Job, pod types.UID) bool {
	if a, b := j.Observed(), o.Observed(); a != b {
		return b
	}
	if a, b := j.denied(pod), o.denied(pod); a != b {
		return b
	}
	return cmp.Or(cmp.Compare(j.Created, o.Created), cmp.Compare(j.Ref.UID, o.Ref.UID)) < 0
}

// unknown reports whether nothing is known of a Job whose UID an observation named: it is yet to come.
func (in *Intake) unknown(uid types.UID) bool {
	stream := events.JobStream(uid)
	if in.World.Retired(stream) != nil {
		return false
	}
	j := in.World.Job(stream)
	return j == nil || !j.Known()
}

// Follow gives the drafts that bring pods without an owner to where they belong, after a record of a Job other than of
// such a pod: it may have come to be known, have finished, or be deleted. It costs what there are such pods in the
// Job's stream, or that waited for it.
func (in *Intake) Follow(s events.Stream) []Draft {
	j := in.World.Job(s)
	if j == nil {
		return nil
	}
	var drafts []Draft
	if len(j.unowned) > 0 {
		drafts = in.moved(drafts, j, j.unowned)
	}
	if strays := in.World.strays(j.Ref.Namespace); strays != nil && j.Known() && len(strays.awaiting[j.Ref.UID]) > 0 {
		drafts = in.moved(drafts, strays, strays.waitFor(j.Ref.UID))
	}
	return drafts
}

// FollowPod does so for one pod of the Job, after the end of a command about that pod: no other belongs elsewhere
// because of it.
func (in *Intake) FollowPod(s events.Stream, uid types.UID) []Draft {
	j := in.World.Job(s)
	if j == nil || j.unowned[uid] == nil {
		return nil
	}
	return in.moved(nil, j, map[types.UID]*Pod{uid: j.unowned[uid]})
}

// moved adds the drafts for those pods that belong elsewhere, or that are recorded with other facts there.
func (in *Intake) moved(drafts []Draft, from Subject, pods map[types.UID]*Pod) []Draft {
	ordered := make([]*Pod, 0, len(pods))
	for _, p := range pods {
		ordered = append(ordered, p)
	}
	slices.SortFunc(ordered, func(a, b *Pod) int { return cmp.Compare(a.arrived, b.arrived) })
	for _, p := range ordered {
		if p.Vanished {
			continue // the watch is yet to tell its end
		}
		facts := p.PodSeen
		namespace := from.Reference().Namespace
		f, stream, ours := in.routeOrphan(namespace, &facts)
		if ours && stream == from.ID() && f.Equal(&p.PodSeen) {
			continue
		}
		evidence := events.Evidence{Namespace: namespace, Name: p.Name, Node: p.Node}
		kind := events.KindPodChanged
		if !ours || stream != from.ID() {
			kind = events.KindPodAdded
			drafts = append(drafts, Draft{
				Stream: from.ID(), Kind: events.KindPodDeleted,
				Facts: &events.PodGone{UID: p.UID, Version: p.Version, Moved: true}, Evidence: evidence,
			})
		}
		if ours {
			drafts = append(drafts, Draft{Stream: stream, Kind: kind, Facts: f, Evidence: evidence})
		}
	}
	return drafts
}
