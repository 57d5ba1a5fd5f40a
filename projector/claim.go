package projector

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// This file handles commands that adopt or release a pod; both are called "claims" (J-172 to J-182). The records of a
// pod without an owner are in the stream (records) of the Job that is to adopt it. If its finalizer is still to be
// removed, they are in the stream of its former Job; see intake/orphans.go. Adopt and release commands carry the
// version of the pod that the decision was based on, so the API server refuses a late command.

// Orphaned yields the pods without an owner that the Job is to adopt, in the order in which they became adoptable.
func (j *Job) Orphaned() iter.Seq[*Pod] { return j.orphaned.all }

// OrphanedLen returns the number of pods to adopt.
func (j *Job) OrphanedLen() int { return j.orphaned.n }

// Disowned yields the pods that the Job is to release because its selector does not match them, in the order in which
// that was found.
func (j *Job) Disowned() iter.Seq[*Pod] { return j.disowned.all }

// DisownedLen returns the number of pods to release.
func (j *Job) DisownedLen() int { return j.disowned.n }

// launchClaim puts a newly decided adoption or release of a pod in flight.
func (j *Job) launchClaim(f *commands.Flight) {
	if p := j.podOf(f); p != nil {
		j.update(p, func() { j.book.Launch(f, &p.target) })
		// Forget when a live read last confirmed the Job: each decision to adopt or release needs a live read of its
		// own
		j.Confirmed = 0
	}
}

// claimEnded updates the pod when a command to adopt or release it has ended. It is not called if the watch showed the
// result first.
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
				// The refusal means that the pod has a newer version, and that version is known already: decide again
				// at once
				r.Until = 0
			}
		case f.Ending == events.OutcomeUnknown:
			j.claimRefused(p.UID, release, since, f)
		}
	})
}

// claimDone updates the pod after a successful adoption or release, before the watch shows the new version.
func (j *Job) claimDone(p *Pod, command events.Command, version uint64) {
	p.Version, p.DroppedIn, p.Candidates, p.Maker = version, 0, nil, ""
	// Set the fields as after a release, when the finalizer no longer counts. An adoption changes Tracked below
	p.Owner, p.Tracked = j.claimant(command), false
	if adopt, ok := command.(*events.AdoptPod); ok {
		p.Selected, p.Tracked = true, !adopt.Spent
	}
}

// claimant returns the owner that the command gives to the pod: the Job for an adoption, "" for a release.
func (j *Job) claimant(command events.Command) types.UID {
	if _, adopt := command.(*events.AdoptPod); adopt {
		return types.UID(j.Stream.ID)
	}
	return ""
}

// claimRefused updates the pod's backoff after an adoption or release was refused, or ended with unknown outcome. since
// is the time of the decision.
func (j *Job) claimRefused(pod types.UID, release bool, since events.Time, f *events.CommandEnded) *claimRetry {
	r := j.claims[pod]
	if r == nil || r.release != release {
		r = &claimRetry{release: release}
	}
	r.Refused(j.Settings, since, j.Now, f)
	for uid, old := range j.claims {
		if j.byUID[uid] == nil && j.Now.Sub(old.Noted) > forgetClaims {
			delete(j.claims, uid)
		}
	}
	if j.claims == nil {
		j.claims = map[types.UID]*claimRetry{}
	}
	j.claims[pod] = r
	return r
}
