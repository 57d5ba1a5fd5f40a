package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// held is how long after its due deletion a pod is reported, if its containers have ended and only a finalizer keeps
// it.
const held = 5 * time.Minute

// finalizers reports pods that cannot be deleted, because the tracking finalizer was left on them.
func finalizers(ctx context.Context, c *Config) []Finding {
	stuck := map[string]int{}
	example := map[string]string{}
	next, read := "", 0
	for range pages {
		pods, err := c.Client.CoreV1().Pods(c.Settings.Namespace).List(ctx, page(next))
		if err != nil {
			return []Finding{cannotList("pods", err)}
		}
		for i := range pods.Items {
			p := &pods.Items[i]
			for _, f := range []string{events.TrackingFinalizer, batchv1.JobTrackingFinalizer} {
				if slices.Contains(p.Finalizers, f) && overdue(p, c.Now()) {
					stuck[f]++
					example[f] = p.Namespace + "/" + p.Name
				}
			}
		}
		read += len(pods.Items)
		if next = pods.Continue; next == "" {
			break
		}
	}
	var found []Finding
	for _, f := range []struct{ finalizer, do string }{
		{events.TrackingFinalizer, "start the controller that ran these Jobs; if it is gone for good: jobledger release --let-go"},
		{batchv1.JobTrackingFinalizer, "see whether the controller of these Jobs runs (the built-in one, or jobledger with --manage=all)"},
	} {
		if n := stuck[f.finalizer]; n > 0 {
			found = append(found, Finding{
				Level: Problem, Do: f.do,
				Text: fmt.Sprintf("%s been on the way out for more than %s, and cannot go: finalizer %s (%s)", many(n, "pod has", "pods have"), held, f.finalizer, example[f.finalizer]),
			})
		}
	}
	if found == nil {
		return well(fmt.Sprintf("no pod is held back by a tracking finalizer (%s looked at)", many(read, "pod", "pods")))
	}
	return found
}

// overdue reports whether the pod should have been deleted more than 5 minutes ago and its containers have ended, so
// that only finalizers delay the deletion.
func overdue(p *corev1.Pod, now time.Time) bool {
	return p.DeletionTimestamp != nil && now.Sub(p.DeletionTimestamp.Time) > held && slices.Contains([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}, p.Status.Phase)
}
