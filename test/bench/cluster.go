package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/controlplane"
)

// Annotations on the pods of profile Cluster. From them and from the pod's UID, kwok, which simulates the kubelets,
// decides how long the pod runs and whether it fails. UIDs differ, so the two compared controllers have different pods,
// drawn from the same table, and the number of failures is known only afterwards.
const (
	// "run": the run time is drawn; "run,fail": whether it fails is drawn, too
	annotationDrawn   = "bench.jobledger.dev/drawn"
	annotationFailing = "bench.jobledger.dev/failing" // indexes whose first pod fails, such as ",3,7,"
)

// annotations returns the annotations for the pods of a Job with this shape.
func (r *run) annotations(s shape) map[string]string {
	if s.alike {
		return nil
	}
	if !s.perIndex {
		return map[string]string{annotationDrawn: "run,fail"}
	}
	failing := ","
	fate := r.config.Setting.fates(s)
	for i := range int(s.pods) {
		if fate(strconv.Itoa(i), 0).Fails {
			failing += strconv.Itoa(i) + ","
		}
	}
	return map[string]string{annotationDrawn: "run", annotationFailing: failing}
}

const (
	drawQuery = `(.metadata.annotations // {}) as $a | ($a["` + annotationDrawn + `"] // "") as $drawn
| (.metadata.uid | explode | reduce .[] as $c (%d; (. * 31 + $c) %% 1000003)) as $number
| `
	runForQuery = drawQuery + `if $drawn == "" then "0s" else [%s][$number %% %d] end`

	outcomeQuery = drawQuery + `($a["` + annotationFailing + `"] // "") as $failing
| ($a["batch.kubernetes.io/job-index-failure-count"] // "") as $failures
| ($a["batch.kubernetes.io/job-completion-index"] // "") as $index
| if $failures == "0" and ($failing | contains("," + $index + ",")) then "` + controlplane.OutcomeFail + `"
  elif $drawn == "run,fail" and ($number / 60 | floor) %% %d == 0 then "` + controlplane.OutcomeFail + `"
  else "` + controlplane.OutcomeSucceed + `" end`
)

// queries returns two jq queries, with which the simulator kwok decides how a pod ends and how long it runs (see
// controlplane.Options).
func (s Setting) queries() (outcome, runFor string) {
	const long = 20 // kwok draws one of 20 quantiles in place of a log-normal run time
	var times []string
	for i := range long {
		quantile := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/long-1)
		work := time.Duration(3*math.Exp(quantile/2)*1000) * time.Millisecond
		times = append(times, `"0s","200ms",`+strconv.Quote(work.String()))
	}
	seed := s.Seed % 1_000_003
	return fmt.Sprintf(outcomeQuery, seed, failOne), fmt.Sprintf(runForQuery, seed, strings.Join(times, ","), 3*long)
}

// drawn sets the expected number of failed pods in the shapes (descriptions of Jobs) for which kwok decided it at
// random: it counts the pods that failed.
func drawn(shapes []shape, pods []corev1.Pod) {
	failed := map[string]int{}
	for i := range pods {
		if owner := metav1.GetControllerOf(&pods[i]); owner != nil && pods[i].Status.Phase == corev1.PodFailed {
			failed[owner.Name]++
		}
	}
	for i := range shapes {
		if s := &shapes[i]; !s.perIndex && !s.alike {
			s.fail = failed[s.name]
		}
	}
}
