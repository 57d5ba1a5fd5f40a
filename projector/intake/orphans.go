package intake

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// A pod without an owner ("orphan") has its records in exactly one stream, so that decisions about it depend on that
// stream alone (docs/design/0004-claiming-pods.md):
//
//	in the stream of                             while
//	-------------------------------------------  -----------------------------------------------------------
//	its current Job                              a command about the pod is in flight, or a status write that
//	                                             accounts for it: their outcome must reach it there
//	the Job that created it                      that Job does not know the outcome of its create
//	the Job that is to adopt it                  a Job may adopt it; if several may, see adoptsBefore
//	its former Job                               it has the finalizer, which that Job removes
//	its namespace                                a Job that might adopt it is not known yet, or it has the
//	                                             finalizer, which is to be removed
//	none                                         none of these
//
// Admit finds the stream whenever the pod is seen. Follow finds it again after other changes.

// routeOrphan returns whose records are to show a pod without an owner (stream: a Job or a namespace), and the facts to
// record there. ours is false if the pod is not recorded.
func (in *Intake) routeOrphan(namespace string, f *events.PodSeen) (facts *events.PodSeen, stream events.Stream, ours bool) {
	home, was := in.World.WhereIs(f.UID)
	holder, is := home.(*projector.Job)
	if !is {
		was = nil
	}
	if was != nil && (was.Claim() != nil || was.Drop() != nil || was.Delete() != nil || was.Written() || holder.Removes(was)) {
		return f, holder.Stream, true
	}
	if maker := in.World.Job(events.JobStream(f.Maker)); maker != nil && maker.Create(f.Ordinal) != nil {
		return f, maker.Stream, true // the pod shows the outcome of that Job's create
	}
	if f.Deleted == 0 { // a pod under deletion is never adopted (J-178)
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

// adopter returns the Job that is to adopt the pod, of the Jobs in f.Candidates that may; nil for none. Mainly the
// oldest Job comes first; adoptsBefore has the exact order. A Job that another controller runs gets no commands from
// us, so nothing would remove our finalizer: a pod with our finalizer does not go to such a Job.
func (in *Intake) adopter(f *events.PodSeen) *projector.Job {
	var first *projector.Job
	for _, uid := range f.Candidates {
		j := in.World.Job(events.JobStream(uid))
		if j == nil || !j.Eligible() || !in.manages(j) || f.Tracked && in.leaves(j) {
			continue
		}
		if first == nil || adoptsBefore(j, first, f.UID) {
			first = j
		}
	}
	return first
}

// manages reports whether the Job is recorded as run or observed by this controller, and still is under the current
// settings.
func (in *Intake) manages(j *projector.Job) bool {
	return j.Managed && in.World.Settings.Records(j.ManagedBy)
}

// leaves reports whether another controller runs the Job while we run other Jobs (ModeDelegated): we never issue a
// command for this Job.
func (in *Intake) leaves(j *projector.Job) bool {
	return in.World.Settings.Mode == events.ModeDelegated && in.World.Settings.Observes(j.ManagedBy)
}

// adoptsBefore reports whether Job j rather than o adopts the pod. A Job that we run comes before one that another
// controller runs, so that observing other Jobs does not change what we do. A Job that was refused the pod comes last.
// Otherwise the older Job comes first, then the lower UID.
func adoptsBefore(j, o *projector.Job, pod types.UID) bool {
	if a, b := j.Observed(), o.Observed(); a != b {
		return b
	}
	if a, b := j.AdoptionDenied(pod), o.AdoptionDenied(pod); a != b {
		return b
	}
	return cmp.Or(cmp.Compare(j.Created, o.Created), cmp.Compare(j.Ref.UID, o.Ref.UID)) < 0
}

// unknown reports whether the Job with this UID has not been seen.
func (in *Intake) unknown(uid types.UID) bool {
	stream := events.JobStream(uid)
	if in.World.Retired(stream) != nil {
		return false
	}
	j := in.World.Job(stream)
	return j == nil || !j.Known()
}

// Follow returns the records that move pods without an owner to the records of another Job or namespace. Call it after
// a record of Job s that is not about such a pod: the Job may have become known, finished, or deleted. The cost depends
// on the number of such pods of this Job, or waiting for it.
func (in *Intake) Follow(s events.Stream) []projector.Draft {
	j := in.World.Job(s)
	if j == nil {
		return nil
	}
	var drafts []projector.Draft
	if orphans := j.Unowned(); len(orphans) > 0 {
		drafts = in.moved(drafts, j, orphans)
	}
	if strays := in.World.Strays(j.Ref.Namespace); strays != nil && j.Known() {
		if waiting := strays.WaitFor(j.Ref.UID); len(waiting) > 0 {
			drafts = in.moved(drafts, strays, waiting)
		}
	}
	return drafts
}

// FollowPod returns the records that move the pod with this UID to the records of another Job or namespace, after a
// command about it has ended. It is Follow for one pod, because no other pod moves then.
func (in *Intake) FollowPod(s events.Stream, uid types.UID) []projector.Draft {
	j := in.World.Job(s)
	if j == nil || j.Unowned()[uid] == nil {
		return nil
	}
	return in.moved(nil, j, map[types.UID]*projector.Pod{uid: j.Unowned()[uid]})
}

// moved adds to drafts the records for those pods that now belong to another Job or namespace than from, or of which
// other facts are to be recorded.
func (in *Intake) moved(drafts []projector.Draft, from projector.Subject, pods map[types.UID]*projector.Pod) []projector.Draft {
	ordered := make([]*projector.Pod, 0, len(pods))
	for _, p := range pods {
		ordered = append(ordered, p)
	}
	slices.SortFunc(ordered, projector.ByArrival)
	for _, p := range ordered {
		if p.Vanished {
			continue // the API server did not find the pod: the watch will report its deletion
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
			drafts = append(drafts, projector.Draft{
				Stream: from.ID(), Kind: events.KindPodDeleted,
				Facts: &events.PodGone{UID: p.UID, Version: p.Version, Moved: true}, Evidence: evidence,
			})
		}
		if ours {
			drafts = append(drafts, projector.Draft{Stream: stream, Kind: kind, Facts: f, Evidence: evidence})
		}
	}
	return drafts
}
