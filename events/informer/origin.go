package informer

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// UsualLabels are the labels of Jobs that are kept unless the operator says otherwise: by which people look for who
// owns what.
var UsualLabels = []string{
	"app", "app.kubernetes.io/name", "app.kubernetes.io/part-of", "kueue.x-k8s.io/queue-name", "team",
}

const (
	maxTraceparent = 64  // 55 in the version that there is
	maxName        = 253 // of an object
	maxLabel       = 63  // the value of one, by the API
)

// originOf is where a Job comes from, with those of its labels that are to be kept; nil when there is nothing to tell.
func originOf(job *kubewire.Job, labels []string) *events.Origin {
	o := events.Origin{
		GenerateName: bounded(job.GenerateName, maxName), Traceparent: bounded(job.Annotations[kubewire.TraceAnnotation], maxTraceparent),
	}
	told := o.GenerateName != "" || o.Traceparent != ""
	if c := metav1.GetControllerOfNoCopy(job); c != nil {
		o.Kind, o.Name, o.UID, told = bounded(c.Kind, maxName), bounded(c.Name, maxName), boundedUID(c.UID), true
	}
	for _, name := range labels {
		if value, ok := job.Labels[name]; ok {
			o.Labels, told = append(o.Labels, events.ObjectLabel{Name: name, Value: bounded(value, maxLabel)}), true
		}
	}
	if !told {
		return nil
	}
	origin := o // so that nothing to tell needs no memory
	return &origin
}

// sorted is a list of labels in the order in which they are told, each once.
func sorted(labels []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(labels)))
}
