package projector

// addPod returns a new pod with the next arrival number.
func (s *pods) addPod() *Pod {
	s.arrival++
	return &Pod{arrived: s.arrival, touched: true}
}

// place adds a pod to the tallies and sets. The facts of the pod must be set. If the pod was there before, the caller
// has called leave.
func (j *Job) place(p *Pod) {
	if j.byUID[p.UID] == nil {
		if _, uncounted := j.uncounted[p.UID]; uncounted {
			j.tally.Countable--
		}
		j.byUID[p.UID] = p
		j.homes[p.UID] = j.Stream
	}
	j.enter(p)
}
