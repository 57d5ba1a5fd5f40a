package projector

// addPod returns a new pod with the next arrival number.
func (s *pods) addPod() *Pod {
	s.arrival++
	return &Pod{arrived: s.arrival, touched: true}
}

// place adds a pod whose facts are set to the Job's sets. Its old share must have been subtracted.
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
