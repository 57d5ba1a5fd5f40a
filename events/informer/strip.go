package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// stripJob takes off what neither observations nor the keeper need. Annotations stay, all of them: a status write sends
// the metadata back, and what it leaves out is gone (J-207). Of the managed fields only the time stays at which the
// built-in controllers last wrote the status, and who changed the spec.
func (feed *Feed) stripJob(job *kubewire.Job) {
	var kept []metav1.ManagedFieldsEntry
	for _, e := range job.ManagedFields {
		if e.Manager == events.BuiltinManager && e.Subresource == statusSubresource && e.Time != nil {
			kept = append(kept, metav1.ManagedFieldsEntry{Manager: e.Manager, Subresource: e.Subresource, Time: e.Time})
		}
	}
	job.ManagedFields = append(kept, feed.editors.strip(job.ManagedFields)...)
}

const statusSubresource = "status"

// builtinWrote is when the built-in controllers last wrote the Job's status, by the API server's clock; 0 for never.
func builtinWrote(job *kubewire.Job) (newest events.Time) {
	for _, e := range job.ManagedFields {
		if e.Manager == events.BuiltinManager && e.Subresource == statusSubresource {
			newest = max(newest, instant(e.Time))
		}
	}
	return newest
}
