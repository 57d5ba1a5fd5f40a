package reconciler

// awaitEnds waits until a pod that is being deleted, and has not ended by itself, counts as failed (J-022). Then a
// record says that the wait is over, and the fold counts the pod; the rules after this one decide on that.
func (p *plan) awaitEnds() {
	until := p.job.StoppingUntil()
	if until == 0 || p.wake(until) {
		return
	}
	p.decision.Judges = true
	if p.decision.Wake == 0 || until < p.decision.Wake {
		p.decision.Wake = until // in the past: the turn that decides so has woken as many as it may, and the next one follows at once
	}
}

// mayFail reports whether the Job fails if no pod that is being deleted ends by itself.
func (p *plan) mayFail() bool {
	stopping := p.job.Tally().Stopping
	switch {
	case stopping == 0: // as always in failed-only mode
		return false
	case p.job.PerIndex: // how many indexes that is shows when they have failed
		return true
	}
	return int64(p.job.FailedCount()+stopping) > backoffLimit(p.job)
}

// awaitsLast reports whether a pod of a Job in failed-only mode has been deleted just now, and may end by itself. It
// does not count as failed, but once the Job has succeeded nothing is counted of it any more, not even a success
// (J-142).
func (p *plan) awaitsLast() bool {
	j := p.job
	if !j.FailedOnly || j.Tally().Terminating == 0 {
		return false
	}
	awaits := false
	for _, pod := range j.Pods() {
		if j.Claims(pod) && pod.Terminating() && pod.Held() && pod.StoppingSince != 0 {
			awaits = p.wake(pod.StoppingSince.Add(j.Settings.DeletedPodWait)) || awaits
		}
	}
	return awaits
}
