package projector

// count adds to the counts and sets what pod p contributes (p.in), or subtracts it if sign is -1.
func (s *pods) count(p *Pod, sign int32) {
	t := &s.tally
	t.Active += one(p.in.active) * sign
	t.Ready += one(p.in.ready) * sign
	t.Terminating += one(p.in.terminating) * sign
	t.Going += one(p.in.going) * sign
	t.GoingReady += one(p.in.going && p.in.ready) * sign
	t.Idle += one(p.in.idle) * sign
	t.HeldFailed += one(p.in.heldCounted) * sign
	t.NeverCounted += one(p.in.neverCounted) * sign
	t.Surplus += one(p.in.surplus) * sign
	t.Removing += one(p.in.removing) * sign
	t.Refused += one(p.in.refused) * sign
	t.Pointless += one(p.in.pointless) * sign
	t.Spared += one(p.in.spared) * sign
	t.Unsure += one(p.in.unsure) * sign
	t.UnsureSucceeded += one(p.in.unsureSuccess) * sign
	t.Adopting += one(p.in.adopting) * sign
	t.Releasing += one(p.in.releasing) * sign
	t.UnlistedFailed += one(p.in.freshFailed) * sign
	t.UnlistedSucceeded += one(p.in.freshSucceeded) * sign
	t.Restarts += int64(p.in.restarts) * int64(sign)
	t.Countable += int(one(p.in.countable) * sign)
	t.Urgent += int(one(p.in.urgent) * sign)
	t.Held += int(one(p.in.held) * sign)
	t.Dropping += int(one(p.in.dropping) * sign)
	t.Stopping += one(p.in.stopping) * sign
	s.misplaced.file(p, p.in.misplaced, sign)
	s.fatal.file(p, p.in.fatal, sign)
	s.unremoved.file(p, p.in.refused || p.in.pointless, sign)
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// Tally counts the Job's pods by the properties that decisions need. "Removal" is the deletion of a pod; of a surplus
// pod (to be deleted, never counted) also the removal of its finalizer.
type Tally struct {
	Active, Ready, Terminating        int32
	Going, GoingReady                 int32 // of Active and Ready: pods whose removal is in progress, not in backoff
	Idle                              int32 // active pods that are not surplus and not being deleted
	UnlistedFailed, UnlistedSucceeded int32 // ended pods that no confirmed status accounts for
	Countable                         int   // pods in uncountedTerminatedPods that no longer have the finalizer
	Surplus                           int32 // surplus pods whose removal has not ended
	Removing                          int32 // pods whose removal is in progress and not in backoff
	Refused                           int32 // active surplus pods whose removal is in backoff
	Pointless                         int32 // pods that ended or left the Job, with a pointless removal in backoff
	Spared                            int32 // active surplus pods with a cancelled removal; its outcome is awaited
	Unsure                            int32 // ended surplus pods with the finalizer, removal in backoff: they may count
	UnsureSucceeded                   int32 // of Unsure, pods that succeeded
	HeldFailed                        int32 // failed pods that count and keep the finalizer until replaced
	NeverCounted                      int32 // pods that never count and still have the finalizer
	Restarts                          int64 // container restarts in pods that run or wait to run (J-113)
	Adopting, Releasing               int32 // pods with an adoption, or release, in flight
	Urgent                            int   // ended, uncounted pods under deletion: a client waits for the finalizer
	Held, Dropping                    int   // pods with the finalizer; of these, with its removal in flight
	Stopping                          int32 // of Terminating, pods that may still end by themselves
}

// podSet is a set of pods.
type podSet map[*Pod]struct{}

// file adds the pod to the set if is (it belongs to the set) is true and sign is 1; it removes the pod if sign is -1.
func (s podSet) file(p *Pod, is bool, sign int32) {
	switch {
	case !is:
	case sign > 0:
		s[p] = struct{}{}
	default:
		delete(s, p)
	}
}

// ManyHeld reports whether more pods still have the tracking finalizer than a finished Job may leave
// (Settings.HeldAtEnd).
func (j *Job) ManyHeld() bool {
	most := int(j.Settings.HeldAtEnd)
	return most != 0 && j.Tally().Held > most
}
