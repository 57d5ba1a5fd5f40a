package policy

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
)

// Policies holds the rules of a Job's podFailurePolicy and successPolicy. It is immutable.
type Policies struct {
	failure *batchv1.PodFailurePolicy // nil for none
	Success []SuccessRule             // in the order of the spec
}

// SuccessRule is a rule of a successPolicy with parsed indexes.
type SuccessRule struct {
	Required indexset.Set // clipped to completions; empty without succeededIndexes
	Some     bool         // the rule has succeededIndexes
	Count    int32        // succeededCount; 0 for all of Required
}

// Of parses the two policies of a Job's spec. A policy that cannot be parsed counts as absent: the API server has
// validated it, so that should not happen.
func Of(spec *events.JobSpec) *Policies {
	p := &Policies{}
	if spec.PodFailurePolicy != "" {
		var failure batchv1.PodFailurePolicy
		if json.Unmarshal([]byte(spec.PodFailurePolicy), &failure) == nil {
			p.failure = &failure
		}
	}
	var success batchv1.SuccessPolicy
	if spec.SuccessPolicy != "" && spec.Completions != nil && json.Unmarshal([]byte(spec.SuccessPolicy), &success) == nil {
		for _, r := range success.Rules {
			rule := SuccessRule{Some: r.SucceededIndexes != nil}
			if rule.Some {
				rule.Required = indexset.Parse(*r.SucceededIndexes, *spec.Completions)
			}
			if r.SucceededCount != nil {
				rule.Count = *r.SucceededCount
			}
			p.Success = append(p.Success, rule)
		}
	}
	return p
}

// Action is the effect of a podFailurePolicy on a failed pod (J-131).
type Action uint8

// The actions.
const (
	NoMatch   Action = iota // no rule matches: the failure counts
	Count                   // a rule says that the failure counts
	Ignore                  // the failure does not count
	FailIndex               // the failure counts, and its index fails
	FailJob                 // the failure counts, and the Job fails
)

// Match is the rule that applies to a failed pod, and what it matched.
type Match struct {
	Action    Action
	Rule      int    // position in the policy, from 0
	Container string // for a rule on exit codes
	Code      int32
	Condition string // for a rule on conditions
}

var actions = map[batchv1.PodFailurePolicyAction]Action{
	batchv1.PodFailurePolicyActionCount:     Count,
	batchv1.PodFailurePolicyActionIgnore:    Ignore,
	batchv1.PodFailurePolicyActionFailIndex: FailIndex,
	batchv1.PodFailurePolicyActionFailJob:   FailJob,
}

// String returns the action as in the API; "" for NoMatch.
func (a Action) String() string {
	for spelt, action := range actions {
		if action == a {
			return string(spelt)
		}
	}
	return ""
}

// Match returns the first rule that matches the pod and whose action is known and applicable (J-127). perIndex says
// that the Job has a limit per index; otherwise FailIndex does not apply.
func (p *Policies) Match(pod *events.PodSeen, perIndex bool) Match {
	if p == nil || p.failure == nil {
		return Match{}
	}
	for i := range p.failure.Rules {
		rule := &p.failure.Rules[i]
		m := Match{Action: actions[rule.Action], Rule: i}
		if m.Action == NoMatch || (m.Action == FailIndex && !perIndex) {
			continue
		}
		if rule.OnExitCodes != nil {
			if m.matchCode(rule.OnExitCodes, pod.Exits) {
				return m
			}
			continue // a rule on exit codes ignores conditions (J-130)
		}
		if m.matchCondition(rule.OnPodConditions, pod.Conditions) {
			return m
		}
	}
	return Match{}
}

// Reads reports whether a rule of the podFailurePolicy names the pod condition.
func (p *Policies) Reads(condition string) bool {
	if p == nil || p.failure == nil {
		return false
	}
	for i := range p.failure.Rules {
		for _, c := range p.failure.Rules[i].OnPodConditions {
			if string(c.Type) == condition {
				return true
			}
		}
	}
	return false
}

// matchCode reports whether an exit code of the pod matches the rule, and records the first match: containers are
// checked in order (J-129). Exit code 0 never matches, because exits has no containers with it.
func (m *Match) matchCode(r *batchv1.PodFailurePolicyOnExitCodesRequirement, exits []events.ContainerExit) bool {
	for _, e := range exits {
		if r.ContainerName != nil && *r.ContainerName != e.Name {
			continue
		}
		in := slices.Contains(r.Values, e.Code)
		if (r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && in) ||
			(r.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && !in) {
			m.Container, m.Code = e.Name, e.Code
			return true
		}
	}
	return false
}

// matchCondition reports whether one of the pod's conditions matches any pattern, and records the first that does
// (J-130).
func (m *Match) matchCondition(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, conditions []events.PodCondition) bool {
	for _, c := range conditions {
		for _, pattern := range patterns {
			status := string(pattern.Status)
			if status == "" {
				status = "True"
			}
			if string(pattern.Type) == c.Type && status == c.Status {
				m.Condition = c.Type
				return true
			}
		}
	}
	return false
}
