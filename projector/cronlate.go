package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
)

// keptLate is how many runs are remembered whose create may yet reach the API server.
const keptLate = 8

// come takes a Job that was seen for the start of a run whose create was late: it is active, as in the third case of
// C-160. A run of that name which is being started comes first: its own end says what the Job is.
func (c *CronJob) come() {
	for i := range c.Late {
		l := &c.Late[i]
		if l.Stage == StartThere || c.starting(l.Name) {
			continue
		}
		var r *Run
		for _, run := range c.Runs { // at most one, but while the watch has not said yet that another one is gone
			if run.Name == l.Name && !run.Told && !c.IsActive(run.Job) && (r == nil || run.Version > r.Version) {
				r = run
			}
		}
		if r == nil {
			continue
		}
		if s := c.Start; s != nil && s.Name == l.Name {
			c.Start = nil // it was refused: its Job is there now
		}
		r.Told = true
		l.Stage, l.Made, l.At = StartThere, events.RunName{UID: r.Job, Name: r.Name, Version: r.Version}, max(r.Created, l.Due)
		c.join(l.Made)
		c.LastSchedule = max(c.LastSchedule, l.Due.Second())
	}
}

// starting reports whether a run of that name is being started, and it is not known yet what came of it.
func (c *CronJob) starting(name string) bool {
	s := c.Start
	return s != nil && s.Name == name && s.Stage != StartRefused
}

// came forgets a run that was late, now that its start was told.
func (c *CronJob) came(t *events.Tick) {
	c.Late = slices.DeleteFunc(slices.Clone(c.Late), func(l CronStart) bool { return l.Stage == StartThere && l.Made.UID == t.Job })
}

// join puts a Job at the end of the list of active ones.
func (c *CronJob) join(r events.RunName) { c.setActive(append(slices.Clone(c.Active), r)) }
