package job

// awaitEnds waits until a pod under deletion, which has not ended by itself, counts as failed (J-022). When the wait
// is over it sets Judges: the decision's record makes the fold count the pod, and the next decision sees it.
func (p *plan) awaitEnds() {
	until := p.job.StoppingUntil()
	if until == 0 || p.WakeAt(until) {
		return
	}
	p.Decision.Judges = true
	if p.Decision.Wake == 0 || until < p.Decision.Wake {
		p.Decision.Wake = until // in the past: this turn has woken MostWoken subjects, and the next turn follows at once
	}
}

// mayFail reports whether the Job fails if no pod under deletion ends by itself.
func (p *plan) mayFail() bool {
	stopping := p.job.Tally().Stopping
	switch {
	case stopping == 0: // always the case in failed-only mode
		return false
	case p.job.PerIndex: // the number of failed indexes is known only after the pods count
		return true
	}
	return int64(p.job.FailedCount()+stopping) > backoffLimit(p.job)
}

// awaitsLast reports whether a pod of a Job in failed-only mode was deleted recently and may still end by itself. Such
// a pod does not count as failed. But once the Job has succeeded, no later end of the pod counts, not even a success
// (J-142).
func (p *plan) awaitsLast() bool {
	j := p.job
	if !j.FailedOnly || j.Tally().Terminating == 0 {
		return false
	}
	awaits := false
	for _, pod := range j.Pods() {
		if j.Claims(pod) && pod.Terminating() && pod.Held() && pod.StoppingSince != 0 {
			awaits = p.WakeAt(pod.StoppingSince.Add(j.Settings.DeletedPodWait)) || awaits
		}
	}
	return awaits
}
