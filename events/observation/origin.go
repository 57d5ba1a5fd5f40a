package observation

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// UsualLabels is the default of Config.KeepLabels: labels by which people search for the owner of a Job.
var UsualLabels = []string{
	"app", "app.kubernetes.io/name", "app.kubernetes.io/part-of", "kueue.x-k8s.io/queue-name", "team",
}

const (
	maxTraceparent = 64  // bytes; version 00 of the format has 55
	maxName        = 253 // of an object
	maxLabel       = 63  // of a label's value, by the API
)

// originOf returns the origin of a Job with the labels named in labels; nil when there is nothing to report.
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
	origin := o // a copy, so that the call does not allocate when it returns nil
	return &origin
}

// sorted returns the labels sorted, without duplicates.
func sorted(labels []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(labels)))
}
