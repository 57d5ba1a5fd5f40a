package oracle

import (
	"context"
	"fmt"
	"math"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/kube"
)

// tellOfCronJobs counts the Events about CronJobs that Jobledger would publish from its logs. It counts them before
// client-go's rate limit, which drops some.
func (o *ours) tellOfCronJobs() error {
	for _, log := range o.logs {
		log.Commit(math.MaxInt)
		refs := map[events.Stream]events.JobRef{}
		for rec, err := range log.Read(context.Background(), 0) {
			if err != nil {
				return fmt.Errorf("read the log: %w", err)
			}
			if rec.Stream.Kind != events.StreamCronJob {
				continue
			}
			if _, ok := rec.Facts.(*events.CronJobSeen); ok && rec.Evidence.Name != "" {
				refs[rec.Stream] = events.JobRef{Namespace: rec.Evidence.Namespace, Name: rec.Evidence.Name}
			}
			for _, e := range kube.Of(&rec, kube.Context{Job: refs[rec.Stream]}) {
				o.told(eventKey{e.Job.Name, e.Type, e.Reason, e.Message}, 1)
			}
		}
	}
	return nil
}
