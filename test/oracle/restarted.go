package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// restartKeeps is an intended difference after a restart of the controller: upstream begins again to count the failures
// of a Job's pods.
var restartKeeps = &Difference{
	Rule: "J-108",
	Sentence: "Pods fail before a restart and after it. Upstream has forgotten those of before, and its backoff begins anew. Ours has them " +
		"in its log, and waits longer: its pods come later. It comes to upstream's end when its log is lost with the process, and both come " +
		"to one end when nothing happens before the backoffs of both are over.",
}

// outlasts is a wait that is longer than any backoff (J-103): 10 slots of 70 s.
const outlasts = 10 * slot

// kept returns restartKeeps if it alone explains how the two controllers differ; otherwise nil. Two things must be
// true. Without its log, Jobledger reaches upstream's final state. And with its log it does so, too, if each step after
// a restart waits until no backoff is left.
func kept(t *player, s Scenario, l lens, seed uint64) (*Difference, error) {
	lost, patient := s.losing(), s.outlasting()
	if !s.does("fail") && !s.does("kill") && !s.does("force") || lost.String() == s.String() {
		return nil, nil
	}
	mine, err := playOurs(lost, l, seed)
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	theirs, err := playUpstream(t, s, l, seed, wholly)
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	if left := diff(theirs, mine); left != "" && explained(s, left) == nil {
		return nil, nil
	}
	v, err := compare(t, patient, l, seed)
	if err != nil || v.diff != "" && v.known == nil {
		return nil, err
	}
	return restartKeeps, nil
}

// losing returns the scenario, changed so that the log is lost at each restart.
func (s Scenario) losing() Scenario {
	lost := s
	lost.Steps = slices.Clone(s.Steps)
	for i, step := range s.Steps {
		lost.Steps[i].Deeds = slices.Clone(step.Deeds)
		for k, deed := range step.Deeds {
			if deed == "start" {
				lost.Steps[i].Deeds[k] = "start lost"
			}
		}
	}
	return lost
}

// outlasting returns the scenario, changed so that each wait after a restart is longer than any backoff.
func (s Scenario) outlasting() Scenario {
	later := s
	later.Steps = slices.Clone(s.Steps)
	for i, started := 0, false; i < len(s.Steps); i++ {
		if started {
			later.Steps[i].Wait = max(s.Steps[i].Wait, outlasts)
		}
		started = started || slices.ContainsFunc(s.Steps[i].Deeds, func(deed string) bool { return strings.HasPrefix(deed, "start") })
	}
	return later
}
