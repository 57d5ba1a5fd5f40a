package projector

import "slices"

// Pods returns all pods in order of arrival in the log. It costs O(n log n) in the number of pods.
func (s *pods) Pods() []*Pod {
	out := make([]*Pod, 0, len(s.byUID))
	for _, p := range s.byUID {
		out = append(out, p)
	}
	slices.SortFunc(out, ByArrival)
	return out
}

// Heard returns the number of pods that the Job's records have shown so far, including pods that are gone.
func (s *pods) Heard() uint64 { return s.arrival }

// Unremoved returns the pods with a refused deletion or finalizer removal (in backoff) that need a new decision: the
// pods are surplus (to be deleted, never counted), have ended, or no longer belong to the Job. The order is that of
// their arrival. The cost depends on the length of the result.
func (s *pods) Unremoved() []*Pod {
	out := make([]*Pod, 0, len(s.unremoved))
	for p := range s.unremoved {
		out = append(out, p)
	}
	slices.SortFunc(out, ByArrival)
	return out
}

// Misplaced returns the active pods without a valid completion index for which no command is in flight, in order of
// arrival.
func (s *pods) Misplaced() []*Pod {
	out := make([]*Pod, 0, len(s.misplaced))
	for p := range s.misplaced {
		out = append(out, p)
	}
	slices.SortFunc(out, ByArrival)
	return out
}

// ByArrival compares two pods by their arrival in the log, for slices.SortFunc.
func ByArrival(a, b *Pod) int { return int(a.arrived) - int(b.arrived) }
