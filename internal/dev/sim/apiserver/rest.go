package apiserver

// rest remembers that a simulated controller, such as the garbage collector, had nothing to do. What it does depends
// only on stored objects, so until one of them changes there is nothing to do.
type rest struct{ changes uint64 } // value of Server.changes at that moment; 0 for never

// unless calls step, and returns whether step did something. If nothing was stored since the last step that did
// nothing, it returns false without calling step.
func (r *rest) unless(s *Server, step func() bool) bool {
	if r.changes == s.changes { // r.changes is 0 at first; s.changes never is, because New stores a namespace
		return false
	}
	if step() {
		return true
	}
	r.changes = s.changes
	return false
}
