package notation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// NewSpec returns a Job spec with the API's defaults.
func NewSpec() events.JobSpec {
	return events.JobSpec{
		Parallelism: new(int32(1)), Completions: new(int32(1)), CompletionMode: "NonIndexed", BackoffLimit: new(int32(6)),
		PodReplacementPolicy: "TerminatingOrFailed", RestartPolicy: "Never", Template: "t1",
	}
}

// Spec changes the spec of a Job by one word of a script. ok is false if the word is not about a spec.
func Spec(s *events.JobSpec, word string) (ok bool, err error) {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "parallelism":
		s.Parallelism, err = number(value)
	case "completions":
		s.Completions, err = number(value)
	case "indexed":
		s.CompletionMode = "Indexed"
	case "backoffLimit":
		s.BackoffLimit, err = number(value)
	case "perIndex":
		s.BackoffLimitPerIndex, err = number(value)
		// If backoffLimit is 6, the default, no earlier word has set it; a later word still may.
		if s.BackoffLimit != nil && *s.BackoffLimit == 6 {
			s.BackoffLimit = new(int32(1<<31 - 1)) // the API's default if backoffLimitPerIndex is set
		}
	case "maxFailed":
		s.MaxFailedIndexes, err = number(value)
	case "deadline":
		var seconds int64
		seconds, err = strconv.ParseInt(value, 10, 64)
		s.ActiveDeadlineSeconds = &seconds
	case "suspend":
		s.Suspend = value != "false"
	case "replace":
		s.PodReplacementPolicy = value
	case "onFailure":
		s.RestartPolicy = "OnFailure"
	case "ttl":
		s.TTLSecondsAfterFinished, err = number(value)
	case "template":
		s.Template = value
	case "redacted": // the hash of the redacted template
		s.Redacted = value
	case "schedulingGroup": // the pod template has a scheduling group
		s.SchedulingGroup = true
	case "scheduling": // spec.scheduling: gang, gang:2 with a minCount, basic, or none for one without a policy
		err = scheduling(s, value)
	case "policy":
		s.PodReplacementPolicy = "Failed"
		s.PodFailurePolicy, err = failurePolicy(value)
	case "success":
		s.SuccessPolicy, err = successPolicy(value)
	default:
		return false, nil
	}
	return true, err
}

// scheduling sets spec.scheduling from a word: "gang", "gang:2" with a minCount, "basic", or "none" for a
// spec.scheduling without a policy.
func scheduling(s *events.JobSpec, value string) (err error) {
	policy, count, counted := strings.Cut(value, ":")
	s.Scheduling, s.SchedulingPolicy, s.MinCount = "s1", map[string]string{"gang": events.PolicyGang, "basic": events.PolicyBasic}[policy], nil
	if counted {
		s.MinCount, err = number(count)
	}
	return err
}

// number parses a number; "none" gives nil.
func number(value string) (*int32, error) {
	if value == "none" {
		return nil, nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	return new(int32(n)), err
}

// failurePolicy returns a podFailurePolicy as JSON. text has rules separated by slashes: "FailJob:In:1,42"; for one
// container "Ignore:NotIn@main:0"; for conditions "Count:cond:DisruptionTarget,ConfigIssue=False"; for both
// "Count:In:1+cond:ConfigIssue". "-" is a policy without rules.
func failurePolicy(text string) (string, error) {
	var policy batchv1.PodFailurePolicy
	for _, part := range strings.Split(strings.Trim(text, "-"), "/") {
		if part == "" {
			continue
		}
		action, rest, _ := strings.Cut(part, ":")
		rule := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyAction(action)}
		for _, requirement := range strings.Split(rest, "+") {
			if err := require(&rule, requirement); err != nil {
				return "", err
			}
		}
		policy.Rules = append(policy.Rules, rule)
	}
	text, err := marshal(policy)
	return text, err
}

// require adds one requirement, about exit codes or conditions, to a rule of a podFailurePolicy.
func require(rule *batchv1.PodFailurePolicyRule, requirement string) error {
	kind, values, _ := strings.Cut(requirement, ":")
	switch kind {
	case "nothing":
		return nil
	case "cond":
		for _, v := range strings.Split(values, ",") {
			condition, status, _ := strings.Cut(v, "=")
			rule.OnPodConditions = append(rule.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{
				Type: corev1.PodConditionType(condition), Status: corev1.ConditionStatus(status),
			})
		}
		return nil
	}
	operator, container, named := strings.Cut(kind, "@")
	rule.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOperator(operator)}
	if named {
		rule.OnExitCodes.ContainerName = &container
	}
	for _, v := range strings.Split(values, ",") {
		n, err := number(v)
		if err != nil || n == nil {
			return fmt.Errorf("exit code %q", v)
		}
		rule.OnExitCodes.Values = append(rule.OnExitCodes.Values, *n)
	}
	return nil
}

// successPolicy returns a successPolicy as JSON. text has rules separated by slashes: "indexes:0,2-4", "count:3",
// "indexes:0-4+count:2".
func successPolicy(text string) (string, error) {
	var policy batchv1.SuccessPolicy
	for _, part := range strings.Split(text, "/") {
		var rule batchv1.SuccessPolicyRule
		for _, word := range strings.Split(part, "+") {
			kind, value, _ := strings.Cut(word, ":")
			switch kind {
			case "indexes":
				rule.SucceededIndexes = &value
			case "count":
				n, err := number(value)
				if err != nil {
					return "", err
				}
				rule.SucceededCount = n
			default:
				return "", fmt.Errorf("a success rule has no %q", kind)
			}
		}
		policy.Rules = append(policy.Rules, rule)
	}
	return marshal(policy)
}

func marshal(policy any) (string, error) {
	text, err := json.Marshal(policy)
	return string(text), err
}

// Status changes the published status of a Job by one word of a script. ok is false if the word is not about a status.
func Status(s *events.JobStatus, word string, now events.Time) (ok bool, err error) {
	key, value, _ := strings.Cut(word, "=")
	count := func(field *int32) {
		var n *int32
		if n, err = number(value); n != nil {
			*field = *n
		} else {
			*field = events.Unset
		}
	}
	switch key {
	case "active":
		count(&s.Active)
	case "ready":
		count(&s.Ready)
	case "terminating":
		count(&s.Terminating)
	case "succeeded":
		count(&s.Succeeded)
	case "failed":
		count(&s.Failed)
	case "completed":
		s.CompletedIndexes = value
	case "failedIndexes":
		if s.FailedIndexes = &value; value == "none" {
			s.FailedIndexes = nil
		}
	case "noLists":
		s.HasUncounted = false
	case "uncountedSucceeded":
		s.HasUncounted, s.UncountedSucceeded = true, uids(value)
	case "uncountedFailed":
		s.HasUncounted, s.UncountedFailed = true, uids(value)
	case "start":
		s.StartTime, err = Time(value, now)
	case "completion":
		s.CompletionTime, err = Time(value, now)
	case "cond":
		parts := append(strings.Split(value, ":"), "", "", "")
		status := parts[1]
		if status == "" {
			status = "True"
		}
		s.Conditions = append(s.Conditions, events.JobCondition{
			Type: parts[0], Status: status, Reason: parts[2], Message: strings.ReplaceAll(parts[3], "_", " "),
			Since: now.Add(-time.Minute).Second(), Probed: now.Add(-time.Minute).Second(),
		})
	default:
		return false, nil
	}
	return true, err
}

func uids(text string) []types.UID {
	var all []types.UID
	for _, s := range strings.Split(text, ",") {
		all = append(all, types.UID(s))
	}
	return all
}

// Time parses a time relative to now, such as -30s, in whole seconds; "none" gives 0.
func Time(text string, now events.Time) (events.Time, error) {
	if text == "none" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	return now.Add(d).Second(), err
}
