package job

// awaitEnds waits for pods that are being deleted, because a pod may still end by itself. After a time such a pod
// counts as failed (J-022). awaitEnds then sets Judges: applying this decision's record counts the pod, and the next
// decision takes that into account.
func (p *plan) awaitEnds() {
	until := p.job.StoppingUntil()
	if until == 0 || p.WakeAt(until) {
		return
	}
	p.Decision.Judges = true
	if p.Decision.Wake == 0 || until < p.Decision.Wake {
		p.Decision.Wake = until // a time in the past: the next turn evaluates the Job at once
	}
}

// mayFail reports whether the Job may still fail because of pods being deleted that may end by themselves: it assumes
// that they all count as failed. With a backoffLimitPerIndex, any such pod is enough.
func (p *plan) mayFail() bool {
	stopping := p.job.Tally().Stopping
	switch {
	case stopping == 0: // with podReplacementPolicy Failed, Stopping is always 0
		return false
	case p.job.PerIndex: // how many indexes would fail is known only once the pods are counted
		return true
	}
	return int64(p.job.FailedCount()+stopping) > backoffLimit(p.job)
}

// awaitsLast reports whether the Job's success must wait for a recently deleted pod, which may still end by itself. It
// applies with podReplacementPolicy Failed, where a pod being deleted does not count as failed. The wait is necessary
// because after the Job's success the end of a pod no longer counts, not even a success (J-142).
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
