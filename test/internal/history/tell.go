package history

import (
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tell describes a history with one line for each version, for people who look for the cause of an error. The text is
// long, so print the error after it.
func Tell(all []Change) string {
	var text strings.Builder
	for _, c := range all {
		fmt.Fprintf(&text, "  %s %d ", c.Seen.Format("04:05.000"), c.Version)
		switch {
		case c.Job != nil:
			tellJob(&text, c)
		default:
			tellPod(&text, c)
		}
	}
	return text.String()
}

func tellJob(text *strings.Builder, c Change) {
	j := c.Job
	status, err := json.Marshal(j.Status)
	if err != nil {
		status = []byte(err.Error())
	}
	fmt.Fprintf(text, "Job %s, generation %d, gone %t, deleted %t: %s\n", j.Name, j.Generation, c.Gone, j.DeletionTimestamp != nil, status)
}

func tellPod(text *strings.Builder, c Change) {
	p := c.Pod
	fmt.Fprintf(text, "pod %s %s, index %q, uid %s, finalizers %v, deleted %t, gone %t", p.Name, p.Status.Phase,
		p.Annotations[batchv1.JobCompletionIndexAnnotation], p.UID, p.Finalizers, p.DeletionTimestamp != nil, c.Gone)
	if metav1.GetControllerOfNoCopy(p) == nil {
		text.WriteString(", of nobody")
	}
	text.WriteString("\n")
}
