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

// claimRetry is what was learnt from refusals to adopt a pod, or to release it. Each pod has its own, so that one which
// a webhook protects holds up no other. That of an adoption stays when the pod goes to another Job, so that it does not
// come back before its time.
type claimRetry struct {
	commands.Retry
	release bool
}

// forgetClaims is for how long a refused adoption of a pod is remembered that has gone elsewhere.
const forgetClaims = time.Hour

// Claiming is what was learnt from refusals to adopt the pod, or to release it; zero when there was none.
func (j *Job) Claiming(pod types.UID) commands.Retry {
	if r := j.claims[pod]; r != nil {
		return r.Retry
	}
	return commands.Retry{}
}

// NextClaim is what was learnt of the pod that is to be adopted or released next after a refusal; zero when there is
// none.
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

// denied reports whether the Job's newest try to adopt the pod was refused in a way that waiting does not help against.
func (j *Job) denied(pod types.UID) bool {
	r := j.claims[pod]
	return r != nil && !r.release && r.Denied()
}

func (j *Job) claimsToWire() []*pb.ClaimRetry {
	var out []*pb.ClaimRetry
	uids := slices.Sorted(maps.Keys(j.claims))
	for i, pod := range events.UIDsToWire(uids) {
		r := j.claims[uids[i]]
		out = append(out, &pb.ClaimRetry{Pod: pod, Retry: retryToWire(&r.Retry), Release: r.release})
	}
	return out
}

func (j *Job) restoreClaims(ws []*pb.ClaimRetry) {
	for _, w := range ws {
		if j.claims == nil {
			j.claims = make(map[types.UID]*claimRetry, len(ws))
		}
		pod := events.UIDsFromWire([][]byte{w.GetPod()})[0]
		j.claims[pod] = &claimRetry{Retry: retryFromWire(w.GetRetry()), release: w.GetRelease()}
	}
}
