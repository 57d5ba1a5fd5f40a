package projector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// podSeen updates a pod by an observation record. p is the known pod; nil for a new one. It returns the updated pod.
func (j *Job) podSeen(rec *events.Record, f *events.PodSeen, p *Pod) *Pod {
	var late events.Time
	if f.Owner != "" || string(f.Maker) == j.Stream.ID {
		late = j.settle(f.Ordinal)
	}
	uid := f.UID
	if p == nil {
		p = j.addPod()
	} else {
		if f.Version < p.Version {
			return p
		}
		j.leave(p)
		uid = p.UID
	}
	was, bare := p.Index, !p.Tracked || p.DroppedIn != 0
	before := p.Deleted != 0 || p.Phase.Terminal()
	if f.Phase == events.PodSucceeded && p.Phase != events.PodSucceeded {
		j.takeBack(p)
	}
	if !f.Tracked || f.Version > p.DroppedIn {
		p.DroppedIn = 0
	}
	if bare && f.Tracked { // the finalizer was removed and is back: a pod that was counted before is not counted again
		p.NeverCounted = p.NeverCounted || p.Counted
	}
	j.Group.Sure = false // the pod may have ended, and a PodGroup without running pods may be deleted
	p.PodSeen, p.Seen = *f, true
	p.LateCreate = max(p.LateCreate, late)
	p.UID = uid // use the string that the maps hold, to save memory
	if p.Gone { // the pod had moved to another stream (another Job's records), and is back
		p.Gone, p.Vanished = false, false
		j.homes[uid] = j.Stream
	}
	if string(p.Owner) == j.Stream.ID {
		p.Owner = types.UID(j.Stream.ID)
	}
	p.DeleteDone = p.DeleteDone && f.Deleted == 0
	p.FailedBeforeDeletion = f.Phase == events.PodFailed && (p.FailedBeforeDeletion || f.Deleted == 0 || f.EndedFirst)
	p.SelectorUnknown = j.Stream.Kind == events.StreamJob && !j.Known() && !f.Selected
	j.stops(p, before)
	j.claimSeen(p)
	j.endMet(p)
	j.called(p, &rec.Evidence)
	j.place(p)
	if was != p.Index {
		j.reviewIndex(was)
	}
	return p
}

// called takes the names of the pod and its node from the evidence (the texts that no decision reads). If the Job's
// object was not seen yet, it also takes the Job's namespace and name.
func (j *Job) called(p *Pod, e *events.Evidence) {
	if e.Name == "" {
		return
	}
	p.Name = e.Name
	if j.Ref.Namespace == "" {
		j.Ref.Namespace = e.Namespace // the Job's object was not seen yet
	}
	if j.Ref.Name == "" {
		j.Ref.Name = e.Owner
	}
	if e.Node != "" {
		p.Node = e.Node
	}
}

// claimSeen ends an adoption or release in flight if the observed owner shows its effect. Call it after the pod's facts
// are set, and before the pod is counted.
func (j *Job) claimSeen(p *Pod) {
	if f := p.Claim(); f != nil && p.Owner == j.claimant(f.Command) {
		j.book.Land(f)
		delete(j.claims, p.UID)
	}
	if r := j.claims[p.UID]; r != nil && r.Class == events.RefusedConflict {
		// The refusal meant that the pod has a newer version, and this may be it: decide again at once
		r.Until = 0
	}
}

// claimOver handles the backoff of adopting or releasing a pod, when the pod was deleted or moved to another Job's
// records. It forgets the backoff of a deleted pod and of a release. An adoption of a moved pod keeps its backoff. If
// its outcome is unknown, the adoption may still give the pod to this Job, so LatePod is extended.
func (j *Job) claimOver(f *events.PodGone) {
	r := j.claims[f.UID]
	switch {
	case r == nil:
	case !f.Moved || r.release:
		delete(j.claims, f.UID)
	case r.Class == 0:
		j.LatePod = max(j.LatePod, r.Noted.Add(j.Settings.RequestTimeout))
	}
}

// jobSeen updates the Job by an observation of its object. The World has set Job.Spec before.
func (j *Job) jobSeen(rec *events.Record, f *events.JobSeen) {
	if f.Version < j.Version {
		return
	}
	if rec.Evidence.Name != "" {
		j.Ref.Namespace, j.Ref.Name = rec.Evidence.Namespace, rec.Evidence.Name
	}
	if rec.Evidence.Origin != nil {
		j.Origin = rec.Evidence.Origin
	}
	if f.Version > j.Version {
		j.endSettled()
	}
	j.rivalWrote(f)
	first := !j.Known()
	again := first || j.SpecAt != f.SpecAt || (f.Deleted != 0) != (j.Deleted != 0) || j.Gone || f.Managed != j.Managed
	j.Version, j.Generation, j.Created, j.Deleted = f.Version, f.Generation, f.Created, f.Deleted
	if j.SpecAt != f.SpecAt {
		// The new spec may follow a suspension. A suspended Job has no pods, so its PodGroup may have been deleted
		j.Group.Sure = false
	}
	j.Managed, j.ManagedBy, j.SpecAt, j.Gone, j.Parent = f.Managed, f.ManagedBy, f.SpecAt, false, f.Parent
	j.Recheck, j.Look = false, false
	if j.Writing().Class == events.RefusedConflict {
		// The refusal meant that the Job has a newer version, and this may be it: do not wait any more
		j.Writing().Until = 0
	}
	switch {
	case f.Confirms != events.CommandID{}:
		j.confirm(f.Confirms)
	case f.Status != nil:
		j.published.seen(f.Status, j.Now, j.Spec)
		again = true
	}
	if again {
		j.recount()
	}
	j.begin(j.Now, j.Spec)
}

// Known reports whether the Job's object has been seen.
func (j *Job) Known() bool { return j.Version != 0 }

// stops begins the wait for a pod whose deletion was just observed: until Settings.DeletedPodWait has passed, it may
// still end by itself. There is no wait if before is true (the pod was already being deleted, or had ended), if the
// Job's success is certain, if another controller runs the Job, or if the pod is an orphan.
func (j *Job) stops(p *Pod, before bool) {
	if before || p.Deleted == 0 || p.Phase.Terminal() || j.succeeding || j.Observed() || j.Stream.Kind != events.StreamJob {
		return
	}
	if j.Settings.DeletedPodWait > 0 {
		p.StoppingSince = j.Now
	}
}

// takeBack removes a pod's failure from the backoff record, because the pod turns out to have succeeded. It had counted
// as failed because of its deletion, and no status has counted it as failed. The caller records its success.
func (j *Job) takeBack(p *Pod) {
	if p.noted && !p.written && !p.Counted && j.Settings.DeletedPodWait > 0 {
		p.noted = false
		j.changed(p)
		j.ends.forget(p.ended)
	}
}

// forget removes one failure with the finish time at from the backoff record.
func (b *backoff) forget(at events.Time) {
	for _, times := range []*[]events.Time{&b.failed, &b.before, &b.failures} {
		if i := slices.Index(*times, at); i >= 0 {
			*times = slices.Delete(slices.Clone(*times), i, i+1) // a copy: an encoded state may share the slice
		}
	}
}

// rivalWrote updates the split-brain detection by the time of the built-in controller's last status write, as the Job's
// object shows it. The write is evidence of a second controller if its status is neither the known one nor one that we
// wrote.
func (j *Job) rivalWrote(f *events.JobSeen) {
	r, at := &j.rivalry, f.BuiltinWrote
	if at == r.wrote {
		return
	}
	r.wrote = at
	// If the outcome of a write of ours is unknown, that write may have stored this status
	ours := j.Writing().Count > 0 && j.Writing().Class == 0
	if at == 0 || f.Status == nil || ours {
		return
	}
	r.acts = append(r.acts, rivalAct{events.RivalAct{Job: j.Ref.UID, At: at}, r.late(at)})
}
