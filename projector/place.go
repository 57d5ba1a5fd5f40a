package projector

// addPod returns a new pod with the next arrival number (order of the pods' first records).
func (s *pods) addPod() *Pod {
	s.arrival++
	return &Pod{arrived: s.arrival, touched: true}
}

// place adds a pod to the Job's counts and sets. The caller has set the pod's observed fields. If the pod is known
// already, the caller has called leave before.
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
