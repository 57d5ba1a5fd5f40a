package projector

// addPod makes room for a pod that the log has not heard of.
func (s *pods) addPod() *Pod {
	s.arrival++
	return &Pod{arrived: s.arrival, touched: true}
}

// place files a pod whose facts are set, new or changed, after its old share has been subtracted.
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
