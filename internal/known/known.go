package known

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/informer"
	"github.com/jobledger/jobledger/projector"
)

// Of is what the log that a world was folded from believes to exist.
func Of(w *projector.World) informer.Known {
	k := informer.Known{JobsVersion: w.Newest(events.Jobs), PodsVersion: w.Newest(events.Pods)}
	for _, s := range w.Streams() {
		j := w.Job(s)
		if j == nil {
			if stub, ok := w.Stub(types.UID(s.ID)); ok {
				k.Jobs = append(k.Jobs, informer.KnownJob{Job: stub.Ref, Version: stub.Version, Managed: true})
			}
			continue
		}
		var owner events.JobRef
		if s.Kind == events.StreamJob {
			owner = j.Ref
			if j.Known() && !j.Gone {
				k.Jobs = append(k.Jobs, informer.KnownJob{Job: j.Ref, Version: j.Version, Managed: j.Managed})
			}
		}
		for _, p := range j.Pods() {
			k.Pods = append(k.Pods, informer.KnownPod{UID: p.UID, Namespace: j.Ref.Namespace, Owner: owner, Version: p.Newest()})
		}
	}
	return k
}
