package known

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/informer"
	"github.com/jobledger/jobledger/projector"
)

// Of is what the log that a world was folded from believes to exist.
func Of(w *projector.World) informer.Known {
	k := informer.Known{JobsVersion: w.Newest(events.Jobs), PodsVersion: w.Newest(events.Pods)}
	for _, j := range w.Holders() {
		var owner events.JobRef
		if j.Stream.Kind == events.StreamJob {
			owner = j.Ref
			if j.Known() && !j.Gone {
				k.Jobs = append(k.Jobs, informer.KnownJob{Job: j.Ref, Version: j.Version, Managed: j.Managed})
			}
		}
		for _, p := range j.Pods() {
			k.Pods = append(k.Pods, informer.KnownPod{UID: p.UID, Namespace: j.Ref.Namespace, Owner: owner, Version: p.Newest()})
		}
	}
	for r := range w.RetiredJobs() {
		k.Jobs = append(k.Jobs, informer.KnownJob{Job: r.Ref, Version: r.Version, Managed: true})
	}
	return k
}
