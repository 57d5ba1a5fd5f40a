package observation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// stripJob removes what neither observations nor the Keeper need. It keeps all annotations: a status write sends the
// metadata back, and the server would delete omitted ones (J-207). Of the managed fields it keeps the time of the
// built-in controllers' last status write, and the entries that changed the spec.
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

// builtinWrote returns when the built-in controllers last wrote the Job's status, by the API server's clock; 0 for
// never.
func builtinWrote(job *kubewire.Job) (newest events.Time) {
	for _, e := range job.ManagedFields {
		if e.Manager == events.BuiltinManager && e.Subresource == statusSubresource {
			newest = max(newest, instant(e.Time))
		}
	}
	return newest
}
