package apiserver

// rest remembers when a controller around the server had nothing to do. Such a controller reads only what is stored, so
// it has nothing to do until the next change.
type rest struct{ changes uint64 } // of the server then; 0 for never

// unless does a step, except when it is known that there is none. It reports whether there was one.
func (r *rest) unless(s *Server, step func() bool) bool {
	if r.changes == s.changes { // never 0: each server has a namespace
		return false
	}
	if step() {
		return true
	}
	r.changes = s.changes
	return false
}
