package projector

import "slices"

// Pods are all pods in the order in which the log first heard of them. It costs what there are pods.
func (s *pods) Pods() []*Pod {
	out := make([]*Pod, 0, len(s.byUID))
	for _, p := range s.byUID {
		out = append(out, p)
	}
	slices.SortFunc(out, byArrival)
	return out
}

// Heard is how many pods the log has ever heard of.
func (s *pods) Heard() uint64 { return s.arrival }

// Unremoved are the pods whose removal is in backoff and that are surplus, have ended or are the Job's no longer, in
// the order in which the log first heard of them. It costs what they are.
func (s *pods) Unremoved() []*Pod {
	out := make([]*Pod, 0, len(s.unremoved))
	for p := range s.unremoved {
		out = append(out, p)
	}
	slices.SortFunc(out, byArrival)
	return out
}

// Misplaced are the active pods without a valid index that nothing is being done to, in the same order.
func (s *pods) Misplaced() []*Pod {
	out := make([]*Pod, 0, len(s.misplaced))
	for p := range s.misplaced {
		out = append(out, p)
	}
	slices.SortFunc(out, byArrival)
	return out
}

func byArrival(a, b *Pod) int { return int(a.arrived) - int(b.arrived) }
