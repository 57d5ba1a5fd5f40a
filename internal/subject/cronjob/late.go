package cronjob

import (
	"slices"

	"github.com/jobledger/jobledger/events"
)

// keptLate limits the length of CronJob.Late: runs whose create may still reach the API server.
const keptLate = 8

// come looks for Jobs of runs in CronJob.Late, whose create seemed lost. A Job that is found joins the active list, as
// in the third case of C-160. If a run with the same name is being started, the outcome of that start is awaited first.
func (c *CronJob) come() {
	for i := range c.Late {
		l := &c.Late[i]
		if l.Stage == StartThere || c.starting(l.Name) {
			continue
		}
		var r *Run
		// Two Jobs have this name only until the watch shows that one is deleted: take the newer one
		for _, run := range c.Runs {
			if run.Name == l.Name && !run.Told && !c.IsActive(run.Job) && (r == nil || run.Version > r.Version) {
				r = run
			}
		}
		if r == nil {
			continue
		}
		if s := c.Start; s != nil && s.Name == l.Name {
			c.Start = nil // its create was refused because this Job exists
		}
		r.Told = true
		l.Stage, l.Made, l.At = StartThere, events.RunName{UID: r.Job, Name: r.Name, Version: r.Version}, max(r.Created, l.Due)
		c.join(l.Made)
		c.LastSchedule = max(c.LastSchedule, l.Due.Second())
	}
}

// starting reports whether a Job with that name is being created and was not refused.
func (c *CronJob) starting(name string) bool {
	s := c.Start
	return s != nil && s.Name == name && s.Stage != StartRefused
}

// came removes from Late the run whose start the ledger (what became of each due time) has recorded in entry t.
func (c *CronJob) came(t *events.Tick) {
	c.Late = slices.DeleteFunc(slices.Clone(c.Late), func(l CronStart) bool { return l.Stage == StartThere && l.Made.UID == t.Job })
}

// join appends a Job to the active list.
func (c *CronJob) join(r events.RunName) { c.setActive(append(slices.Clone(c.Active), r)) }
