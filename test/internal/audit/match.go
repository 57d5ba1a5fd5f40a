package audit

// A deed has a row of commands, in the order in which they were decided, and a row of writes, in the order in which
// they were sent. The commands of one object are carried out one at a time and in their order. So the writes have to
// fall into parts, one for each command and maybe empty, of which each is what its command may have made:
//
//	commands   A: refused Server, done      B: done
//	writes     500     500     200          200
//	           └──────── A ────────┘        └ B ┘

// fits reports whether the writes of a deed can be shared out among its commands; whole: as if none had been cut off.
func fits(commands []*command, writes []*Write, whole bool) bool {
	made := make([]bool, len(writes)) // whether a write before it may have made the object
	for j := 1; j < len(writes); j++ {
		made[j] = made[j-1] || mayMake(writes[j-1].Code)
	}
	ends := map[int]bool{0: true} // at which the commands so far may end
	for _, c := range commands {
		next := map[int]bool{}
		for from := range ends {
			c.from(from, writes, made, whole, next)
		}
		ends = next
	}
	return ends[len(writes)]
}

// step is how far a command has got in its outcomes and in the writes, and how many tries without an outcome it has
// had.
type step struct{ outcome, write, cuts int }

// from adds to ends where the writes of the command may end that begin there.
func (c *command) from(begin int, writes []*Write, made []bool, whole bool, ends map[int]bool) {
	cuts := c.cuts
	if whole {
		cuts = 0
	}
	seen := map[step]bool{}
	var walk func(step)
	walk = func(s step) {
		if seen[s] {
			return
		}
		seen[s] = true
		if s.outcome == len(c.outcomes) {
			if s.outcome > 0 || cuts > 0 {
				ends[s.write] = true
			}
		} else if o := &c.outcomes[s.outcome]; !o.tried() {
			walk(step{s.outcome + 1, s.write, s.cuts})
		}
		if s.write == len(writes) {
			return
		}
		w, before := writes[s.write], made[s.write]
		if !c.about(w) {
			return
		}
		if s.outcome < len(c.outcomes) {
			if o := &c.outcomes[s.outcome]; (o.tried() || o.maybe()) && o.agrees(w, before) {
				walk(step{s.outcome + 1, s.write + 1, s.cuts})
			}
		}
		if c.repeats(s.outcome, w, before) {
			walk(step{s.outcome, s.write + 1, s.cuts})
		}
		if s.cuts < cuts {
			walk(step{s.outcome, s.write + 1, s.cuts + 1})
		}
	}
	walk(step{write: begin})
}

// about reports whether the log and the write name the same object.
func (c *command) about(w *Write) bool {
	return c.object[1] == "" || c.object == [2]string{w.Namespace, w.Name}
}

// repeats reports whether a write is a try that the log need not tell, as it ended like one before: of the command
// itself, once one was recorded, or of those with which it shares its backoff.
func (c *command) repeats(recorded int, w *Write, made bool) bool {
	if !c.retried || recorded == 0 || c.over && recorded == len(c.outcomes) {
		return false
	}
	for _, all := range [][]outcome{c.outcomes[:recorded], c.answersOfOthers} {
		for i := range all {
			if o := &all[i]; (o.tried() || o.maybe()) && !accepted(w.Told) && o.agrees(w, made) {
				return true
			}
		}
	}
	return false
}
