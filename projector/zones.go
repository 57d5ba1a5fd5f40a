package projector

import "github.com/jobledger/jobledger/events"

// zonesInUse returns a function that reports whether a CronJob uses a time zone, now or for a due time that is not
// over.
func (w *World) zonesInUse() func(events.ZoneName) bool {
	used := map[events.ZoneName]bool{}
	for _, s := range w.subjects {
		if c, ok := s.(*CronJob); ok {
			c.UseZones(used)
		}
	}
	return func(z events.ZoneName) bool { return used[z] }
}

// recoverCrons completes the CronJobs after a recovery from a snapshot. It parses schedules again, because a CronJob in
// the snapshot may name a time zone that a later record stored. It drops time zones that are neither used nor in the
// newest file, as a program that started without a snapshot would.
func (w *World) recoverCrons() {
	clear(w.runs)
	for _, s := range w.subjects {
		c, ok := s.(*CronJob)
		if !ok {
			continue
		}
		c.Replan()
		for uid := range c.Runs {
			w.runs[uid] = c.Stream
		}
	}
	w.zones.Prune(w.specs.Since(), w.zonesInUse())
}
