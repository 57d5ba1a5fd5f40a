package invariants

import "time"

// setting is how far the controller's clock was off from an instant on.
type setting struct {
	since  time.Time
	offset time.Duration
}

// ClockSet tells that the controller's clock is that far off from now on; the world's own clock goes on.
func (c *Checker) ClockSet(offset time.Duration) {
	c.clock = append(c.clock, setting{c.cfg.Server.Clock().Now(), offset})
}

// elapsed is how long, at most, the Job had run from one time to another, both as the controller published them. What
// it had served of a wait when its clock was set it keeps (design §4).
func (c *Checker) elapsed(j *job, start, end time.Time) time.Duration {
	longest := time.Duration(0)
	if c.forgotten || j.starter != c.cfg.Actor { // no more can be known than what is published, and what the clock showed
		longest = end.Sub(start)
		for i, offset := 0, time.Duration(0); i < len(c.clock); i++ {
			longest = max(longest, c.clock[i].since.Add(offset).Sub(start))
			offset = c.clock[i].offset
		}
	}
	for _, from := range c.truly(j, start) {
		for _, to := range c.truly(j, end) {
			longest = max(longest, to.Sub(from))
		}
	}
	return longest
}

// truly are the world's times, since the Job was created, at which the controller's clock may have led to this one. A
// time that has not been published yet moves with the clock, so it may be of before the clock was set.
func (c *Checker) truly(j *job, shown time.Time) []time.Time {
	var out []time.Time
	for i, offset := 0, time.Duration(0); i <= len(c.clock); i++ {
		t := shown.Add(-offset)
		if !t.Before(j.now.CreationTimestamp.Time) && (i == len(c.clock) || !t.After(c.clock[i].since)) {
			out = append(out, t)
		}
		if i < len(c.clock) {
			offset = c.clock[i].offset
		}
	}
	return out
}
