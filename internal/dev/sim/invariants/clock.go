package invariants

import "time"

// setting says by how much the controller's clock is wrong, from the time since on.
type setting struct {
	since  time.Time
	offset time.Duration
}

// ClockSet tells the checker that from now on the controller's clock differs from the right time by offset.
func (c *Checker) ClockSet(offset time.Duration) {
	c.clock = append(c.clock, setting{c.cfg.Server.Clock().Now(), offset})
}

// elapsed returns the longest time that a Job may have run between two times that the controller published (start and
// end). It is not exact, because the controller's clock may have been wrong. If the clock is set during a wait, the
// part of the wait before that still counts (design §4).
func (c *Checker) elapsed(j *job, start, end time.Time) time.Duration {
	longest := time.Duration(0)
	// If the controller lost its log, or another one started the Job, it knows only the published start time, and
	// compares it with its own clock.
	if c.forgotten || j.starter != c.cfg.Actor {
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

// truly returns the right times at which the controller may have noted the time shown: one for each setting of its
// clock. Times before the Job was created are left out. A time that was noted and not published yet is moved when the
// clock is set, so a result may be before that moment.
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
