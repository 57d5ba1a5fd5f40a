package projector

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/commands"
)

// Claiming (J-172 to J-182). A pod without an owner lives in the stream of the Job that is to adopt it, or of
// the Job that it was when its finalizer is still to be removed; see orphans.go for which. Adoptions and releases name the
// version of the pod that was decided on: one that arrives late changes nothing.

// Orphaned yields the pods that the Job is to adopt, in the order in which it came to know so.
func (j *Job) Orphaned() iter.Seq[*Pod] { return j.orphaned.all }

// OrphanedLen is their number.
func (j *Job) OrphanedLen() int { return j.orphaned.n }

// Disowned yields the pods that the Job is to release, in order.
func (j *Job) Disowned() iter.Seq[*Pod] { return j.disowned.all }

// DisownedLen is their number.
func (j *Job) DisownedLen() int { return j.disowned.n }

// Eligible reports whether the Job may adopt pods at all: it is ours, goes on and is not being deleted (J-175, J-011).
func (j *Job) Eligible() bool {
	return j.Known() && j.Managed && !j.Gone && j.Deleted == 0 && !j.finished
}

// adopts reports whether the Job is to adopt the pod: it has no owner, the selector matches, and it is not on its way out
// (J-175, J-178).
func (j *Job) adopts(p *Pod) bool {
	return p.Owner == "" && !p.Foreign && !p.Leaving() && p.Drop() == nil && p.Delete() == nil && j.Eligible() &&
		slices.Contains(p.Candidates, j.Ref.UID)
}

// disowns reports whether the Job is to release the pod: it owns it, and the selector does not match (J-174).
func (j *Job) disowns(p *Pod) bool {
	return string(p.Owner) == j.Stream.ID && !p.Selected && !p.SelectorUnknown && !p.Vanished && p.Drop() == nil && p.Delete() == nil &&
		j.Eligible()
}

// enterClaim files what claiming needs of a pod, and leaveClaim takes it back.
func (j *Job) enterClaim(p *Pod, claimed bool) {
	_, p.in.adopting = p.claim().(*events.AdoptPod)
	_, p.in.releasing = p.claim().(*events.ReleasePod)
	if !p.Counted {
		counted := claimed || string(p.Maker) == j.Stream.ID
		p.Counted = j.accounted(p) || (counted && p.Phase.Terminal() && !p.Held())
	}
	if p.Owner != "" || p.Gone {
		return
	}
	if j.Stream.Kind == events.StreamJob {
		if j.unowned == nil {
			j.unowned = map[types.UID]*Pod{}
		}
		j.unowned[p.UID] = p
	}
}

func (j *Job) leaveClaim(p *Pod) {
	delete(j.unowned, p.UID)
}

// Claim is the pod's adoption or release in flight; nil for none.
func (p *Pod) Claim() *commands.Flight { return p.target.Flight(events.SlotClaim) }

// claim is the adoption or the release of the pod that is in flight; nil for none.
func (p *Pod) claim() events.Command {
	if f := p.Claim(); f != nil {
		return f.Command
	}
	return nil
}

// launchClaim folds the command to adopt or to release a pod.
func (j *Job) launchClaim(f *commands.Flight) {
	if p := j.podOf(f); p != nil {
		j.update(p, func() { j.book.Launch(f, &p.target) })
		j.Confirmed = 0 // a read is good for what was decided on it
	}
}

// claimSeen folds what an observation of the pod says about its adoption or release in flight: one that it shows has
// succeeded. Its facts are set, and its share is not in the tallies.
func (j *Job) claimSeen(p *Pod) {
	if f := p.Claim(); f != nil && p.Owner == j.claimant(f.Command) {
		j.book.Land(f)
		delete(j.claims, p.UID)
	}
	if r := j.claims[p.UID]; r != nil && r.Class == events.RefusedConflict {
		r.Until = 0 // here is the newer version
	}
}

// claimEnded folds how an adoption or a release ended that no observation has ended.
func (j *Job) claimEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	p, command, since := j.podOf(flight), flight.Command, flight.Since
	_, release := command.(*events.ReleasePod)
	j.update(p, func() {
		j.book.Land(flight)
		switch {
		case f.Ending == events.Done:
			delete(j.claims, p.UID)
			if f.Version >= p.Version {
				j.claimDone(p, command, f.Version)
			}
		case f.Ending == events.Refused && f.Class == events.RefusedNotFound:
			p.Vanished = true
		case f.Ending == events.Refused:
			r := j.claimRefused(p.UID, release, since, f)
			if f.Class == events.RefusedConflict && p.Version > events.VersionOf(command) {
				r.Until = 0 // a newer version is known already
			}
		case f.Ending == events.OutcomeUnknown:
			j.claimRefused(p.UID, release, since, f)
		}
	})
}

// claimDone is the pod after its adoption or release, before the watch shows it.
func (j *Job) claimDone(p *Pod, command events.Command, version uint64) {
	p.Version, p.DroppedIn, p.Candidates, p.Maker = version, 0, nil, ""
	p.Owner, p.Tracked = j.claimant(command), false // that it is not selected is why it is released
	if adopt, ok := command.(*events.AdoptPod); ok {
		p.Selected, p.Tracked = true, !adopt.Spent
	}
}

// claimant is who owns the pod once its adoption or release is done: the Job, or nobody.
func (j *Job) claimant(command events.Command) types.UID {
	if _, adopt := command.(*events.AdoptPod); adopt {
		return types.UID(j.Stream.ID)
	}
	return ""
}

// overtaken is the version at which the removal of a finalizer met a newer one, if that is how it ended; else 0. It ends so,
// and is decided again when the newer version has been seen.
func (p *Pod) overtaken(flight *commands.Flight, f *events.CommandEnded) uint64 {
	if f.Ending != events.Refused || f.Class != events.RefusedConflict || flight != p.Drop() {
		return 0
	}
	return events.VersionOf(flight.Command)
}
