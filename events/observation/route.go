package observation

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// routed tells whether a pod is reported, and with which facts. The controller of the pod decides (design §7):
//
//	controller               concerns: it is reported                  settled: no later Job changes that
//	-----------------------  ----------------------------------------  ----------------------------------
//	a managed Job            always                                    yes
//	a Job not managed        if it has a finalizer of ours             yes
//	a Job not seen yet       if it has a finalizer of ours             no: that Job may come
//	something else           if it has a finalizer of ours             yes
//	none                     as above, or if managed Jobs select it    no, if it has labels: Jobs may come
//
// A pod that was reported once is reported until it is deleted. The facts of a pod that is not settled are kept. When a
// Job comes that the pod may belong to, the pod is routed again.
type routed struct {
	observation events.Observation
	concerns    bool
	settled     bool
}

// route returns the observation of a pod, given the Jobs known now.
func (feed *Feed) route(f *podFacts) routed {
	seen := f.seen // a copy for the observation; its slices are shared and never changed
	tracked := f.ours || f.builtin && feed.mode != events.ModeDelegated
	r := routed{concerns: tracked, settled: true}
	owner := feed.jobs.known[seen.Owner]
	if owner != nil && owner.fromLog {
		owner = nil
	}
	var policy, containers []string
	switch {
	case owner != nil:
		seen.Selected = owner.selects(f.labels)
		if owner.managed {
			r.concerns = true
			seen.Unmarked = feed.mode == events.ModeAll && !f.marked
			tracked = owner.tracks(f)
			policy, containers = owner.conditions, owner.containers
		}
	case seen.Owner != "":
		// If the owner was not seen yet, assume that it has the generated selector, as nearly every Job has. The pod is
		// not settled: it is routed again when the Job comes
		seen.Selected = f.labels[controllerUIDLabel] == string(seen.Owner)
		r.settled = false
	case !seen.Foreign && len(f.labels) > 0:
		seen.Candidates = feed.candidates(f)
		r.concerns = r.concerns || len(seen.Candidates) > 0
		r.settled = false
	}
	seen.Tracked = tracked
	seen.Conditions, seen.Exits = telling(seen.Conditions, policy), deciding(seen.Exits, containers)
	r.observation = events.Observation{Job: f.owner, Facts: &seen, Evidence: f.evidence, Claim: f.claim}
	r.observation.Others = owner != nil && owner.observed && feed.mode == events.ModeDelegated
	return r
}

// selects reports whether the Job's selector matches the labels.
func (j *knownJob) selects(set map[string]string) bool {
	if j.selector == nil {
		return set[controllerUIDLabel] == string(j.ref.UID)
	}
	return j.selector.Matches(labels.Set(set))
}

// tracks reports whether the pod has the tracking finalizer of this Job's pods.
func (j *knownJob) tracks(f *podFacts) bool {
	if j.ours {
		return f.ours
	}
	return f.builtin
}

// candidates returns the UIDs, sorted, of the managed Jobs in the pod's namespace that select the pod and may adopt it.
// A Job with the generated selector, the usual case, is looked up by the label's value. The few others are tested one
// by one.
func (feed *Feed) candidates(f *podFacts) []types.UID {
	var uids []types.UID
	namespace := f.evidence.Namespace
	job := feed.jobs.known[types.UID(f.labels[controllerUIDLabel])]
	if job != nil && job.managed && !job.fromLog && !job.over && job.selector == nil && job.ref.Namespace == namespace {
		uids = append(uids, job.ref.UID)
	}
	for uid, job := range feed.jobs.selecting[namespace] {
		if job.selects(f.labels) {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids
}

// compare orders pods by creation, then by UID.
func (f *podFacts) compare(g *podFacts) int {
	return cmp.Or(cmp.Compare(f.seen.Created, g.seen.Created), cmp.Compare(f.seen.UID, g.seen.UID))
}

// progress lists the conditions that every pod gets on its way to running. They add nothing to phase, node and
// readiness, and change so often that they would fill most of the log.
var progress = []string{
	string(corev1.PodReady), string(corev1.PodInitialized), string(corev1.ContainersReady),
	string(corev1.PodScheduled), string(corev1.PodReadyToStartContainers),
}

// maxConditionType is the longest condition type that a policy may name, by the API's validation: a qualified name.
const maxConditionType = 317

// telling returns the conditions that a decision may read: all except progress, plus those that a rule of the owner
// names. It bounds the number of the others, because anyone who may write a pod's status can add as many as fit into an
// object.
func telling(all []events.PodCondition, policy []string) []events.PodCondition {
	var some []events.PodCondition
	for _, c := range all {
		named := slices.Contains(policy, c.Type)
		if named || (!slices.Contains(progress, c.Type) && len(c.Type) <= maxConditionType && len(some) < maxWords) {
			some = append(some, c)
		}
	}
	return some
}

// maxExits bounds the containers of a failed pod whose exits are reported, in addition to those that a policy names.
const maxExits = 64

// deciding returns the container exits that a decision may read. A rule reads the exit of a named container, or whether
// any container exited with a code. So for more than maxExits containers it returns the first one with each code, and
// those that a rule of the owner names.
func deciding(all []events.ContainerExit, named []string) []events.ContainerExit {
	if len(all) <= maxExits {
		return all
	}
	type end struct {
		init bool
		code int32
	}
	told, some := map[end]bool{}, make([]events.ContainerExit, 0, maxExits)
	for _, x := range all {
		is := end{x.Init, x.Code}
		if slices.Contains(named, x.Name) || !told[is] && len(told) < maxExits {
			told[is] = true
			some = append(some, x)
		}
	}
	return some
}
