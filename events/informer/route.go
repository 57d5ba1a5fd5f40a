package informer

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Routing (design §7): to whom a pod belongs decides whether it is told, and what is told of it.
//
//	controller               told                                      settled
//	-----------------------  ----------------------------------------  ---------------------------------
//	a Job that is managed    always                                    yes
//	a Job that is not        when it carries a finalizer of ours       yes
//	a Job not seen yet       when it carries a finalizer of ours       no: that Job may come
//	something else           when it carries a finalizer of ours       yes
//	none                     so, or when managed Jobs select it        no, if it has labels: Jobs may come
//
// Whatever was told once is told until it is gone. What is not settled is held, and routed again when the Job comes.
type routed struct {
	observation events.Observation
	concerns    bool
	settled     bool
}

// route says what is to be told of a pod, given the Jobs that are known now.
func (feed *Feed) route(f *podFacts) routed {
	seen := f.seen // the observation's own; its slices are shared and never changed
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
		seen.Selected = f.labels[controllerUIDLabel] == string(seen.Owner) // what nearly every Job's selector says
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

// selects reports whether the Job's selector matches those labels.
func (j *knownJob) selects(set map[string]string) bool {
	if j.selector == nil {
		return set[controllerUIDLabel] == string(j.ref.UID)
	}
	return j.selector.Matches(labels.Set(set))
}

// tracks reports whether the pod carries the finalizer that this Job's pods are kept by.
func (j *knownJob) tracks(f *podFacts) bool {
	if j.ours {
		return f.ours
	}
	return f.builtin
}

// candidates is the sorted UIDs of the managed Jobs in the pod's namespace whose selectors match it, and that still
// adopt pods. Nearly every Job has the generated selector: it is looked up by the label's value. The others are few,
// and asked.
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

// compare puts held pods into the order of their creation.
func (f *podFacts) compare(g *podFacts) int {
	return cmp.Or(cmp.Compare(f.seen.Created, g.seen.Created), cmp.Compare(f.seen.UID, g.seen.UID))
}

// progress are the conditions of every pod's way to running. They tell nothing that phase, node and readiness do not,
// and change so often that they would be most of the log.
var progress = []string{
	string(corev1.PodReady), string(corev1.PodInitialized), string(corev1.ContainersReady),
	string(corev1.PodScheduled), string(corev1.PodReadyToStartContainers),
}

// maxConditionType is the length of the longest type that a policy may name, by the API's validation: a qualified name.
const maxConditionType = 317

// telling is the conditions that a decision may read: all but those of progress that no rule of the owner names. Of
// others there is a bound: whoever may write a pod's status can make as many as fit into an object.
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

// maxExits is how many containers of a pod that failed are told, without those that a policy names.
const maxExits = 64

// deciding is the exits of containers that a decision may read. A rule reads those of a container that it names, or
// whether any container ended with a code. So of very many the first with each code are told, and those that a rule of
// the owner names.
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
