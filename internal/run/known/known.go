package known

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/projector"
)

// Of returns the objects that exist according to the world, the state folded from a log.
func Of(w *projector.World) observation.Known {
	k := observation.Known{JobsVersion: w.Newest(events.Jobs), PodsVersion: w.Newest(events.Pods), CronJobsVersion: w.Newest(events.CronJobs)}
	cronJobs := map[types.UID]types.UID{} // UID of the CronJob, by the UID of its Job
	for _, c := range w.CronJobs() {
		if c.Known() && !c.Gone {
			k.CronJobs = append(k.CronJobs, observation.KnownCronJob{CronJob: c.Ref, Version: c.Seen.Version})
		}
		for uid := range c.Runs {
			cronJobs[uid] = c.Ref.UID
		}
	}
	told := map[types.UID]bool{} // Jobs that are in k.Jobs; other Jobs of CronJobs go into k.Runs
	for _, j := range w.Holders() {
		var owner events.JobRef
		if j.Stream.Kind == events.StreamJob {
			owner = j.Ref
			if j.Known() && !j.Gone {
				k.Jobs = append(k.Jobs, observation.KnownJob{Job: j.Ref, Version: j.Version, Managed: j.Managed, CronJob: cronJobs[j.Ref.UID]})
				told[j.Ref.UID] = true
			}
		}
		for _, p := range j.Pods() {
			k.Pods = append(k.Pods, observation.KnownPod{UID: p.UID, Namespace: j.Ref.Namespace, Owner: owner, Version: p.Newest()})
		}
	}
	for r := range w.RetiredJobs() {
		k.Jobs = append(k.Jobs, observation.KnownJob{Job: r.Ref, Version: r.Version, Managed: true, CronJob: cronJobs[r.Ref.UID]})
		told[r.Ref.UID] = true
	}
	for _, c := range w.CronJobs() {
		for _, r := range c.SortedRuns() {
			if !told[r.Job] {
				ref := events.JobRef{Namespace: c.Ref.Namespace, Name: r.Name, UID: r.Job}
				k.Runs = append(k.Runs, observation.KnownRun{Job: ref, Version: r.Version, CronJob: c.Ref.UID})
			}
		}
	}
	return k
}
