package projector

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// Expiry holds all that the decision reads which deletes a finished Job at the end of its TTL.
type Expiry struct {
	Job     types.UID
	Version uint64      // newest resourceVersion
	At      events.Time // end of the TTL; 0 if the Job is not to be deleted
	From    events.Time // earliest time of the deletion: At, or a second later while work is left
	TTL     int32       // spec.ttlSecondsAfterFinished
	Busy    bool        // a read, write or deletion of the Job's object is in flight
	Look    bool        // the object must be read from the API server before the next write
	Writing commands.Retry
}

// expiresAt returns the end of a finished Job's TTL by the API server's clock. It returns 0 without a TTL, without a
// finish time, or if this program deletes no finished Jobs (T-003, T-004, T-020, T-025).
func expiresAt(finished events.Time, ttl int32, settings *events.Settings) events.Time {
	if !settings.DeleteExpired || ttl == events.Unset || finished == 0 {
		return 0
	}
	return finished.Add(time.Duration(ttl) * time.Second)
}

// wrapUp is how much longer than its TTL a finished Job stays if work is left for it. Example: a Job with a TTL of 0
// and pods with finalizers stays for a second. By then most Jobs have removed the finalizers, and their pods can be
// deleted without a record each.
const wrapUp = time.Second

// Expiry returns when the Job is to be deleted after it has finished. The state of its pods does not matter (T-006).
func (j *Job) Expiry() Expiry {
	e := Expiry{Job: j.Ref.UID, Version: j.Version, TTL: ttlOf(j.Spec), Look: j.Look, Writing: *j.Writing()}
	e.Busy = j.Write() != nil || j.Reading() != nil || j.deletion() != nil
	if j.Phase() == PhaseFinished && j.Deleted == 0 {
		if e.At = expiresAt(finishTime(j.Base.Conditions), e.TTL, j.Settings); e.At != 0 {
			e.From = e.At.Add(wrapUp)
		}
	}
	return e
}

// deletion returns the Job's deletion in flight; nil for none.
func (j *Job) deletion() *commands.Flight { return j.book.Itself.Flight(events.SlotDelete) }

// Expiry returns when the retired Job (finished, without work left) is to be deleted.
func (r *Retired) Expiry() Expiry {
	at := r.Expires()
	return Expiry{
		Job: r.Ref.UID, Version: r.Version, At: at, From: at, TTL: r.TTL, Busy: r.Busy(), Look: r.Look(), Writing: r.Writing(),
	}
}
