package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/commands"
)

// Apply folds rec into j. It cannot fail: records are validated when they are decoded. Its cost depends on what rec
// changes, not on how many pods j has. Job is not safe for concurrent use; its owner is the loop.
func (j *Job) Apply(rec *events.Record) {
	j.Now = rec.Time // before the time so far where the clock stepped, else never
	if rec.Stream == j.Stream {
		j.Head = rec.Sequence
	}
	switch f := rec.Facts.(type) {
	case *events.JobSeen:
		j.jobSeen(rec, f)
	case *events.JobGone:
		j.Version = max(j.Version, f.Version) // what was read before is no news
		j.gone()
	case *events.PodSeen:
		j.podSeen(rec, f)
	case *events.PodGone:
		j.claimOver(f)
		j.podGone(f.UID)
	case *events.GroupSeen:
		j.Group.seen(f)
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			j.book.Decide(rec, f)
		}
	case *events.CommandEnded:
		if f.Written != 0 {
			j.ourWrite(f.Written)
		}
		j.book.End(rec, f)
	case *events.JobRetired:
		j.Retired = true
	case *events.ClockStepped:
		j.shift(f.Step)
	case *events.ControllerStarted:
		j.restarted()
	}
	j.endMetGroup()
	j.lag()
}

// jobSeen folds what was seen of the Job's object. World has set Spec before.
func (j *Job) jobSeen(rec *events.Record, f *events.JobSeen) {
	if f.Version < j.Version {
		return
	}
	if rec.Evidence.Name != "" {
		j.Ref.Namespace, j.Ref.Name = rec.Evidence.Namespace, rec.Evidence.Name
	}
	if f.Version > j.Version {
		j.endSettled()
	}
	j.rivalWrote(f)
	first := !j.Known()
	again := first || j.SpecAt != f.SpecAt || (f.Deleted != 0) != (j.Deleted != 0) || j.Gone || f.Managed != j.Managed
	j.Version, j.Generation, j.Created, j.Deleted = f.Version, f.Generation, f.Created, f.Deleted
	j.Managed, j.ManagedBy, j.SpecAt, j.Gone = f.Managed, f.ManagedBy, f.SpecAt, false
	j.Recheck, j.Look = false, false
	if j.Writing().Class == events.RefusedConflict {
		j.Writing().Until = 0 // here is the newer version
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

// gone folds the end of the Job's object: nothing of it is to be counted any more.
func (j *Job) gone() {
	j.Gone, j.claims = true, nil
	for _, f := range j.book.InOrder() {
		if p := j.podOf(f); p != nil {
			j.endMet(p)
		}
	}
	j.recount()
}

// podSeen folds what was seen of a pod.
func (j *Job) podSeen(rec *events.Record, f *events.PodSeen) {
	var late events.Time
	if f.Owner != "" || string(f.Maker) == j.Stream.ID {
		late = j.settle(f.Ordinal)
	}
	p := j.byUID[f.UID]
	uid := f.UID
	if p == nil {
		j.rivalMade(f)
		p = j.addPod()
	} else {
		if f.Version < p.Version {
			return
		}
		j.leave(p)
		uid = p.UID
	}
	was, bare := p.Index, !p.Tracked || p.DroppedIn != 0
	if !f.Tracked || f.Version > p.DroppedIn {
		p.DroppedIn = 0
	}
	if bare && f.Tracked { // the finalizer was given back: it goes again, and nothing is counted twice
		p.NeverCounted = p.NeverCounted || p.Counted
	}
	p.PodSeen, p.Seen = *f, true
	p.LateCreate = max(p.LateCreate, late)
	p.UID = uid // the text that the maps hold, not another that says the same
	if p.Gone { // it had moved to another stream, and is back
		p.Gone, p.Vanished = false, false
		j.homes[uid] = j.Stream
	}
	if string(p.Owner) == j.Stream.ID {
		p.Owner = types.UID(j.Stream.ID)
	}
	p.DeleteDone = p.DeleteDone && f.Deleted == 0
	p.FailedBeforeDeletion = f.Phase == events.PodFailed && (p.FailedBeforeDeletion || f.Deleted == 0 || f.EndedFirst)
	p.SelectorUnknown = j.Stream.Kind == events.StreamJob && !j.Known() && !f.Selected
	j.claimSeen(p)
	j.endMet(p)
	if e := &rec.Evidence; e.Name != "" {
		p.Name = e.Name
		if j.Ref.Namespace == "" {
			j.Ref.Namespace = e.Namespace // of a placeholder
		}
		if j.Ref.Name == "" {
			j.Ref.Name = e.Owner
		}
		if e.Node != "" {
			p.Node = e.Node
		}
	}
	j.place(p)
	if was != p.Index {
		j.reviewIndex(was)
	}
}

// place files a pod whose facts are set, new or changed, after its old share has been subtracted.
func (j *Job) place(p *Pod) {
	if j.byUID[p.UID] == nil {
		if _, uncounted := j.uncounted[p.UID]; uncounted {
			j.tally.Countable--
		}
		j.byUID[p.UID] = p
		j.homes[p.UID] = j.Stream
	}
	j.enter(p)
}

// podGone folds the end of a pod's object.
func (j *Job) podGone(uid types.UID) {
	p := j.byUID[uid]
	if p == nil {
		return
	}
	j.podMayCome(p.LateCreate)
	if j.homes[uid] == j.Stream { // else it has moved already
		delete(j.homes, uid)
	}
	if p.written {
		j.update(p, func() { p.Gone, p.Vanished = true, true })
		return
	}
	j.leave(p)
	j.unqueue(p)
	delete(j.byUID, uid)
	if p.in.completing && j.Indexed {
		j.uncomplete(p.in.completes)
	}
	j.reviewIndex(p.Index) // it may have been what kept another one from being held
	for _, f := range []*commands.Flight{p.Drop(), p.Delete(), p.Claim()} {
		j.book.Land(f)
	}
	if _, uncounted := j.uncounted[uid]; uncounted {
		j.tally.Countable++
	}
}

// restarted folds a process's start: what was in flight is in doubt. Deletions, finalizer removals and reads are asked
// again where they are still wanted; a status write is decided afresh from a version seen since; a create keeps its slot
// until it has ended. What is in backoff stands.
func (j *Job) restarted() {
	j.rivalry.began = 0
	j.doubtEnd(false)
	j.groupDoubted()
	j.book.Restart()
	j.Recheck = len(j.creates) > 0
}
