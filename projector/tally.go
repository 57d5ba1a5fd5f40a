package projector

// count adds the pod's share to the tallies and the sets, or takes it out again when sign is negative.
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

// Tally is the Job's pods in numbers.
type Tally struct {
	Active, Ready, Terminating        int32
	Going, GoingReady                 int32 // of the active and the ready: being removed or deleted, and that is not in backoff
	Idle                              int32 // active pods that nothing is being done to
	UnlistedFailed, UnlistedSucceeded int32 // ended and not yet accounted for in the base
	Countable                         int   // uncounted UIDs whose pod no longer carries the finalizer
	Surplus                           int32 // surplus pods whose removal is not over
	Removing                          int32 // pods whose removal is asked for, and no answer has refused it
	Refused                           int32 // active surplus pods whose removal is in backoff
	Pointless                         int32 // pods whose removal is in backoff, and which have ended or are the Job's no longer
	Spared                            int32 // active surplus pods whose removal is cancelled, and how its newest try ended is awaited
	Unsure                            int32 // surplus pods that ended with the finalizer on, while its removal is in backoff
	UnsureSucceeded                   int32 // of these, the pods that succeeded
	HeldFailed                        int32 // failed pods that are held back for their index, and count
	NeverCounted                      int32 // pods that are not to be counted and still carry the finalizer
	Restarts                          int64 // of containers of pods that run or wait to run (J-113)
	Adopting, Releasing               int32 // pods whose adoption, or release, is in flight
	Urgent                            int   // unlisted pods that are being deleted: a client waits for their finalizer
	Held, Dropping                    int   // pods that carry the finalizer; of these, whose removal of it is on its way
	Stopping                          int32 // pods that are being deleted, and may still end by themselves: of the terminating
}

// podSet holds the pods of one kind, in no order.
type podSet map[*Pod]struct{}

// file adds a pod that is one of them, or takes it out again when sign is negative.
func (s podSet) file(p *Pod, is bool, sign int32) {
	switch {
	case !is:
	case sign > 0:
		s[p] = struct{}{}
	default:
		delete(s, p)
	}
}

// ManyHeld reports whether more pods carry the finalizer than may when the Job says that it has ended
// (Settings.HeldAtEnd).
func (j *Job) ManyHeld() bool {
	most := int(j.Settings.HeldAtEnd)
	return most != 0 && j.Tally().Held > most
}
