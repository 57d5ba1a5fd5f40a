package policy

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
)

// Policies are the rules of a Job's podFailurePolicy and successPolicy. They are immutable.
type Policies struct {
	failure *batchv1.PodFailurePolicy // nil for none
	Success []SuccessRule             // in their order
}

// SuccessRule is a rule of a successPolicy, its indexes read.
type SuccessRule struct {
	Required indexset.Set // clipped to completions; of a rule without succeededIndexes, empty
	Some     bool         // the rule names indexes
	Count    int32        // succeededCount; 0 for all of Required
}

// Of reads the policies of a spec. What cannot be read counts as absent: the API server has checked it.
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

// Action is what a podFailurePolicy does with a failed pod (J-131).
type Action uint8

// The actions.
const (
	NoMatch   Action = iota // no rule matches: counted
	Count                   // counted, explicitly
	Ignore                  // not counted
	FailIndex               // counted, and its index fails
	FailJob                 // counted, and the Job fails
)

// Match is the rule that decides about a failed pod, and what in the pod it matched.
type Match struct {
	Action    Action
	Rule      int    // its place in the policy, from 0
	Container string // of a rule on exit codes
	Code      int32
	Condition string // of a rule on conditions
}

var actions = map[batchv1.PodFailurePolicyAction]Action{
	batchv1.PodFailurePolicyActionCount:     Count,
	batchv1.PodFailurePolicyActionIgnore:    Ignore,
	batchv1.PodFailurePolicyActionFailIndex: FailIndex,
	batchv1.PodFailurePolicyActionFailJob:   FailJob,
}

// String is the action as the API spells it; empty for NoMatch.
func (a Action) String() string {
	for spelt, action := range actions {
		if action == a {
			return string(spelt)
		}
	}
	return ""
}

// Match is the first rule that matches the pod and whose action is known and applies (J-127). perIndex says that the
// Job has a limit per index, without which FailIndex does not apply.
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
			continue // its conditions are not looked at (J-130)
		}
		if m.matchCondition(rule.OnPodConditions, pod.Conditions) {
			return m
		}
	}
	return Match{}
}

// Reads reports whether a rule of the podFailurePolicy names that condition of pods.
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

// matchCode looks at containers in their order; the first that matches decides (J-129). Exit code 0 never matches: such
// containers are not among the exits.
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

// matchCondition names the first of the pod's conditions that matches any pattern (J-130).
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
