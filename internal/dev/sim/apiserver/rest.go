package apiserver

// rest remembers that a simulated controller, such as the garbage collector, had nothing to do. Such a controller
// depends only on stored objects, so it has nothing to do until one changes.
type rest struct{ changes uint64 } // Server.changes at that moment; 0 for never

// unless calls step, except if nothing was changed since a step had nothing to do. It reports whether step did
// something.
func (r *rest) unless(s *Server, step func() bool) bool {
	if r.changes == s.changes { // changes is never 0, because New stores a namespace
		return false
	}
	if step() {
		return true
	}
	r.changes = s.changes
	return false
}
