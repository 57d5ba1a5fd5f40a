package controlplane

import (
	"cmp"
	_ "embed"
	"strings"
)

// Annotations of a pod, or of a Job's pod template, that decide how the pod runs and ends. A pod without any of them
// runs and succeeds as soon as it has a node.
const (
	// AnnotationOutcome is how the pod ends, see Outcome. The default is OutcomeSucceed.
	AnnotationOutcome = "sim.jobledger.dev/outcome"
	// AnnotationFailIndexes lists completion indexes, such as "2,5". Their pods fail, whatever AnnotationOutcome says.
	AnnotationFailIndexes = "sim.jobledger.dev/fail-indexes"
	// AnnotationExitCode is the exit code of all containers of a failing pod; the default is 1.
	AnnotationExitCode = "sim.jobledger.dev/exit-code"
	// AnnotationRunFor is how long the pod runs before it ends, such as "90s"; the default is 0. If it is changed while
	// the pod runs, the time starts again.
	AnnotationRunFor = "sim.jobledger.dev/run-for"
	// AnnotationStartAfter is how long the pod stays Pending after it got a node; the default is 0.
	AnnotationStartAfter = "sim.jobledger.dev/start-after"
	// AnnotationStopAfter is how long the containers take to end after the pod was deleted; the default is 0. They end
	// with exit code 143, and the pod becomes Failed.
	AnnotationStopAfter = "sim.jobledger.dev/stop-after"
)

// Outcome is a value of AnnotationOutcome.
type Outcome = string

const (
	// OutcomeSucceed ends the pod as Succeeded, all containers with exit code 0.
	OutcomeSucceed Outcome = "succeed"
	// OutcomeFail ends the pod as Failed if its restart policy is Never. Otherwise its containers are restarted
	// forever, each time after AnnotationRunFor, by default after one second.
	OutcomeFail Outcome = "fail"
	// OutcomeRun keeps the pod running and Ready until it is deleted.
	OutcomeRun Outcome = "run"
	// OutcomePending never starts the pod; the test writes its status itself.
	OutcomePending Outcome = "pending"
)

//go:embed stages.yaml
var stagesYAML string

// outcomeQuery is a jq query that returns the outcome of a pod.
const outcomeQuery = `
(.metadata.annotations // {}) as $a
| (.metadata.labels["batch.kubernetes.io/job-completion-index"] // "") as $index
| ($a["` + AnnotationFailIndexes + `"] // "" | split(",") | map(gsub("\\s"; ""))) as $failing
| if $index != "" and any($failing[]; . == $index) then "` + OutcomeFail + `"
  else $a["` + AnnotationOutcome + `"] // "` + OutcomeSucceed + `"
  end`

// runForQuery is a jq query that returns how long a pod runs.
const runForQuery = `.metadata.annotations["` + AnnotationRunFor + `"]`

// kwokConfig returns the configuration of kwok: stages.yaml with queries in place of the words OUTCOME and RUNFOR.
func (o *Options) kwokConfig() string {
	indented := func(query string) string {
		return "|-" + strings.ReplaceAll("\n"+strings.TrimSpace(query), "\n", "\n        ")
	}
	return strings.NewReplacer(
		"key: OUTCOME", "key: "+indented(cmp.Or(o.PodOutcome, outcomeQuery)),
		"expressionFrom: RUNFOR", "expressionFrom: "+indented(cmp.Or(o.PodRunFor, runForQuery)),
	).Replace(stagesYAML)
}
