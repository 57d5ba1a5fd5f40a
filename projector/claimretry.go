package projector

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// claimRetry is the backoff before one pod's adoption or release is tried again. Each pod has a backoff of its own, so
// that a pod that a webhook protects does not delay others. If the pod moves to another Job, the backoff of its
// adoption is kept: the pod is not retried early if it comes back.
type claimRetry struct {
	commands.Retry
	release bool
}

// forgetClaims is how long the backoff of a refused adoption is kept after the pod has left this Job's records.
const forgetClaims = time.Hour

// Claiming returns the backoff before the pod's adoption or release is tried again; zero if no try was refused.
func (j *Job) Claiming(pod types.UID) commands.Retry {
	if r := j.claims[pod]; r != nil {
		return r.Retry
	}
	return commands.Retry{}
}

// NextClaim returns, of all backoffs of the pods to adopt or release, the one that ends first after now; zero for none.
func (j *Job) NextClaim(now events.Time) commands.Retry {
	var next commands.Retry
	for _, pods := range []*queue{&j.orphaned, &j.disowned} {
		for p := range pods.all {
			if r := j.Claiming(p.UID); r.Until > now && (next.Until == 0 || r.Until < next.Until) {
				next = r
			}
		}
	}
	return next
}

// AdoptionDenied reports whether the Job's newest adoption of the pod was refused for a reason that does not pass by
// waiting.
func (j *Job) AdoptionDenied(pod types.UID) bool {
	r := j.claims[pod]
	return r != nil && !r.release && r.Denied()
}

func (j *Job) claimsToWire() []*pb.ClaimRetry {
	var out []*pb.ClaimRetry
	uids := slices.Sorted(maps.Keys(j.claims))
	for i, pod := range events.UIDsToWire(uids) {
		r := j.claims[uids[i]]
		out = append(out, &pb.ClaimRetry{Pod: pod, Retry: commands.RetryToWire(&r.Retry), Release: r.release})
	}
	return out
}

func (j *Job) restoreClaims(ws []*pb.ClaimRetry) {
	for _, w := range ws {
		if j.claims == nil {
			j.claims = make(map[types.UID]*claimRetry, len(ws))
		}
		pod := events.UIDsFromWire([][]byte{w.GetPod()})[0]
		j.claims[pod] = &claimRetry{Retry: commands.RetryFromWire(w.GetRetry()), release: w.GetRelease()}
	}
}
