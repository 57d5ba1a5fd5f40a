package controlplane

import (
	"cmp"
	_ "embed"
	"strings"
)

// Annotations on a pod (in a Job: on its template) that choose the pod's life. Without any of them a pod that was given
// a node runs and succeeds at once.
const (
	// AnnotationOutcome is how the pod ends, see Outcome. The default is OutcomeSucceed.
	AnnotationOutcome = "sim.jobledger.dev/outcome"
	// AnnotationFailIndexes lists completion indexes, such as "2,5", whose pods fail, whatever AnnotationOutcome says.
	AnnotationFailIndexes = "sim.jobledger.dev/fail-indexes"
	// AnnotationExitCode is the exit code of all containers of a pod that fails; the default is 1.
	AnnotationExitCode = "sim.jobledger.dev/exit-code"
	// AnnotationRunFor is how long the pod runs before it ends, as time.ParseDuration reads it; the default is no time. A
	// change of the pod while it runs starts this time again.
	AnnotationRunFor = "sim.jobledger.dev/run-for"
	// AnnotationStartAfter is how long the pod stays Pending once it has a node; the default is no time.
	AnnotationStartAfter = "sim.jobledger.dev/start-after"
	// AnnotationStopAfter is how long the containers take to end when the pod is deleted; the default is no time. They end
	// with exit code 143, and the pod as Failed.
	AnnotationStopAfter = "sim.jobledger.dev/stop-after"
)

// Outcome is a value of AnnotationOutcome.
type Outcome = string

const (
	// OutcomeSucceed ends the pod as Succeeded, all containers with exit code 0.
	OutcomeSucceed Outcome = "succeed"
	// OutcomeFail ends the pod as Failed when its restart policy is Never. With another one its containers are started
	// again, each time after AnnotationRunFor (by default one second), for ever.
	OutcomeFail Outcome = "fail"
	// OutcomeRun lets the pod run, and be Ready, until it is deleted.
	OutcomeRun Outcome = "run"
	// OutcomePending never starts the pod; the test writes its status itself.
	OutcomePending Outcome = "pending"
)

//go:embed stages.yaml
var stagesYAML string

// outcomeQuery computes, from a pod, the outcome that holds for it.
const outcomeQuery = `
(.metadata.annotations // {}) as $a
| (.metadata.labels["batch.kubernetes.io/job-completion-index"] // "") as $index
| ($a["` + AnnotationFailIndexes + `"] // "" | split(",") | map(gsub("\\s"; ""))) as $failing
| if $index != "" and any($failing[]; . == $index) then "` + OutcomeFail + `"
  else $a["` + AnnotationOutcome + `"] // "` + OutcomeSucceed + `"
  end`

// runForQuery computes, from a pod, how long it runs.
const runForQuery = `.metadata.annotations["` + AnnotationRunFor + `"]`

// kwokConfig is the configuration of kwok: stages.yaml with queries in the places of the words OUTCOME and RUNFOR.
func (o *Options) kwokConfig() string {
	indented := func(query string) string {
		return "|-" + strings.ReplaceAll("\n"+strings.TrimSpace(query), "\n", "\n        ")
	}
	return strings.NewReplacer(
		"key: OUTCOME", "key: "+indented(cmp.Or(o.PodOutcome, outcomeQuery)),
		"expressionFrom: RUNFOR", "expressionFrom: "+indented(cmp.Or(o.PodRunFor, runForQuery)),
	).Replace(stagesYAML)
}
