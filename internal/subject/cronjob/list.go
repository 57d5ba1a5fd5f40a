package cronjob

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// This file keeps the CronJob's Jobs. There may be thousands: with the policy Allow, Jobs that do not end pile up, and
// the history may be long. Each record of a Job leads to an evaluation of the CronJob, which must not scan all Jobs. So
// the Jobs are sorted by name, and a long active list has an index.

// shortList is the number of active Jobs up to which IsActive scans the list; a longer list gets an index.
const shortList = 16

// IsActive reports whether a Job is in the active list, which becomes status.active.
func (c *CronJob) IsActive(uid types.UID) bool {
	if c.listed != nil {
		return c.listed[uid]
	}
	return slices.ContainsFunc(c.Active, func(r events.RunName) bool { return r.UID == uid })
}

// setActive replaces the active list. A decision or a record may share the old list, so the old list is never changed
// in place.
func (c *CronJob) setActive(all []events.RunName) {
	c.Active, c.listed = all, nil
	if len(all) > shortList {
		c.listed = uidsOf(all)
	}
}

// leave removes Jobs from the active list.
func (c *CronJob) leave(uids ...types.UID) {
	if len(uids) > 0 {
		c.setActive(events.WithoutRuns(c.Active, uids))
	}
}

// seenActive merges an active list that the object now shows with our unpublished changes: Jobs that we removed stay
// removed, and Jobs that we added stay.
func (c *CronJob) seenActive(published []events.RunName) []events.RunName {
	before, listed := uidsOf(c.Seen.Active), uidsOf(published)
	active := slices.DeleteFunc(slices.Clone(published), func(a events.RunName) bool {
		return before[a.UID] && !c.IsActive(a.UID) // we removed it
	})
	for _, r := range c.Active {
		if !before[r.UID] && !listed[r.UID] {
			listed[r.UID] = true
			active = append(active, r)
		}
	}
	return active
}

func uidsOf(list []events.RunName) map[types.UID]bool {
	set := make(map[types.UID]bool, len(list))
	for _, r := range list {
		set[r.UID] = true
	}
	return set
}

// putRun adds a Job that the CronJob does not have yet.
func (c *CronJob) putRun(r *Run) {
	c.Runs[r.Job] = r
	at, _ := slices.BinarySearchFunc(c.byName, &r.RunSeen, compareRun)
	c.byName = slices.Insert(c.byName, at, r)
}

// dropRun forgets a Job that is gone or has left the CronJob.
func (c *CronJob) dropRun(uid types.UID) {
	r := c.Runs[uid]
	if r == nil {
		return
	}
	delete(c.Runs, uid)
	at, _ := slices.BinarySearchFunc(c.byName, &r.RunSeen, compareRun)
	c.byName = slices.Delete(c.byName, at, at+1)
}

// RunNamed returns the Job with that name that is not known to be gone; nil for none. If there are two, it prefers the
// one that has not ended.
func (c *CronJob) RunNamed(name string) (found *Run) {
	at, _ := slices.BinarySearchFunc(c.byName, &events.RunSeen{Name: name}, compareRun)
	for ; at < len(c.byName) && c.byName[at].Name == name; at++ {
		if r := c.byName[at]; !r.Vanished() && (found == nil || found.Finished()) {
			found = r
		}
	}
	return found
}

func compareRun(r *Run, with *events.RunSeen) int { return compareRuns(&r.RunSeen, with) }

// SortedRuns returns the CronJob's Jobs, sorted by name, then UID.
func (c *CronJob) SortedRuns() []*Run { return slices.Clone(c.byName) }

func (c *CronJob) runSeen(rec *events.Record, f *events.RunSeen) {
	c.heard = true
	r := c.Runs[f.Job]
	switch {
	case r == nil:
		r = &Run{RunSeen: *f}
		if c.Settings.CronJobs {
			r.First = rec.Time
		}
		c.putRun(r)
	case f.Version < r.Version:
		return
	case f.Name != r.Name:
		renamed := *r
		renamed.RunSeen = *f
		c.dropRun(f.Job)
		c.putRun(&renamed)
		r = &renamed
	default:
		r.RunSeen = *f
	}
	if r.Finished() && r.Ended == 0 {
		r.Ended = c.Now
	}
	if f.Succeeded { // the status must show the success even if the Job is deleted (C-107)
		c.LastSuccess = max(c.LastSuccess, f.Completed)
	}
	if c.Ref.Namespace == "" {
		c.Ref.Namespace = rec.Evidence.Namespace
	}
	if c.Ref.Name == "" {
		c.Ref.Name = rec.Evidence.Owner
	}
	c.recognise(r)
	if !c.Sight.Observing {
		c.come()
	}
	c.happened()
}
