package projector

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/internal/subject/commands"
)

// podGone removes a pod whose object was deleted; p is nil if the pod is unknown. A pod that a status write in flight
// accounts for is kept until that write has ended.
func (j *Job) podGone(p *Pod) {
	if p == nil {
		return
	}
	uid := p.UID
	j.LatePod = max(j.LatePod, p.LateCreate)
	if j.homes[uid] == j.Stream { // otherwise another stream has the pod already
		delete(j.homes, uid)
	}
	if p.written {
		j.update(p, func() { p.Gone, p.Vanished = true, true })
		return
	}
	j.leave(p)
	j.unqueue(p)
	delete(j.byUID, uid)
	j.division.forget(p)
	if p.in.completing && j.Indexed {
		j.uncomplete(p.in.completes)
	}
	// If the pod was held back for a replacement, another failed pod of its index may now be the one to hold back
	j.reviewIndex(p.Index)
	for _, f := range []*commands.Flight{p.Drop(), p.Delete(), p.Claim()} {
		j.book.Land(f)
	}
	if _, uncounted := j.uncounted[uid]; uncounted {
		j.tally.Countable++
	}
}

// forget removes a deleted pod from the queues of d. If a stored part of the Job's state lists the pod, forget puts it
// back into queue left, so that a later part says that the pod is forgotten.
func (d *division) forget(p *Pod) {
	switch p.line {
	case lineNone:
	case d.round:
		d.told.remove(p)
	default:
		d.left.remove(p)
	}
	if p.line = lineNone; p.told == d.round {
		p.forgotten = true
		d.left.push(p)
		p.line = lineLeft
	}
}

// unwritten clears the mark "written" of all pods when the status write that accounts for them has ended. Pods whose
// object was deleted meanwhile are then removed.
func (j *Job) unwritten(*commands.Flight) {
	marked := j.marked
	j.marked = nil
	slices.SortFunc(marked, func(a, b *Pod) int { return cmp.Compare(a.entered, b.entered) }) // in order of entry
	for _, p := range marked {
		j.update(p, func() { p.written = false })
		if p.Gone {
			j.podGone(p)
		}
	}
}
