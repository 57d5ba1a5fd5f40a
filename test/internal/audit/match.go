package audit

// Several commands can have the same Deed, and so can several writes. The commands are in the order of their decisions,
// the writes in the order in which they were sent. Commands about one object are carried out one at a time and in
// order. So the writes must split into consecutive parts, one for each command. A part may be empty, and has only
// writes that its command may have made:
//
//	commands   A: refused Server, done      B: done
//	writes     500     500     200          200
//	           └──────── A ────────┘        └ B ┘

// fits reports whether the writes of one Deed (kind, object, owner, version) can be split among the commands that ask
// for it. If whole is true, no command may have a try that the log does not know (a cut).
func fits(commands []*command, writes []*Write, whole bool) bool {
	made := make([]bool, len(writes)) // for each write: an earlier one may have made the object
	for j := 1; j < len(writes); j++ {
		made[j] = made[j-1] || mayMake(writes[j-1].Code)
	}
	ends := map[int]bool{0: true} // positions in writes at which the writes of the commands so far may end
	for _, c := range commands {
		next := map[int]bool{}
		for from := range ends {
			c.from(from, writes, made, whole, next)
		}
		ends = next
	}
	return ends[len(writes)]
}

// step is a state of the search in from: how many outcomes and writes of the command are matched so far, and how many
// tries had no recorded outcome (cuts).
type step struct{ outcome, write, cuts int }

// from adds to ends all positions at which this command's writes may end, if they begin at position begin. made says,
// for each write, whether an earlier one may have created the object; for whole see fits.
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

// about reports whether the command and the write may be about the same object. If the log does not name the
// command's object, it returns true.
func (c *command) about(w *Write) bool {
	return c.object[1] == "" || c.object == [2]string{w.Namespace, w.Name}
}

// repeats reports whether the log may lack this try because its answer repeats an earlier one, of the same command or
// of a command with the same backoff. recorded is how many outcomes came before; for made see agrees.
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
