package invariants

import "time"

// setting is the error of the controller's clock from an instant on.
type setting struct {
	since  time.Time
	offset time.Duration
}

// ClockSet tells that the controller's clock differs by offset from the world's from now on.
func (c *Checker) ClockSet(offset time.Duration) {
	c.clock = append(c.clock, setting{c.cfg.Server.Clock().Now(), offset})
}

// elapsed returns the longest time that the Job may have run from start to end, two times that the controller
// published. A wait keeps the part that had passed before the clock was set (design §4).
func (c *Checker) elapsed(j *job, start, end time.Time) time.Duration {
	longest := time.Duration(0)
	if c.forgotten || j.starter != c.cfg.Actor { // only the published times and the clock are known
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

// truly returns the world's times, since the Job was created, at which the controller may have noted the time shown. A
// time that is not published yet moves with the clock, so the result may lie before the clock was set.
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
