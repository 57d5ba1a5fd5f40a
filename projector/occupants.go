package projector

import "slices"

// occupants are who holds a completion index: pods that run, and creates that have not ended.
type occupants struct {
	n    int32 // of both
	pods *Pod  // linked by Pod.beside
}

// Occupants are the pods that hold an index, in the order in which the log first heard of them. It costs what they are.
func (j *Job) Occupants(i int32) []*Pod {
	var out []*Pod
	for p := j.occupants[i].pods; p != nil; p = p.beside {
		out = append(out, p)
	}
	slices.SortFunc(out, byArrival)
	return out
}

// Misplaced are the active pods without a valid index that nothing is being done to, in the same order.
func (j *Job) Misplaced() []*Pod {
	out := make([]*Pod, 0, len(j.misplaced))
	for p := range j.misplaced {
		out = append(out, p)
	}
	slices.SortFunc(out, byArrival)
	return out
}

// hold files a pod with those of its index, or takes it out again when sign is negative.
func (j *Job) hold(p *Pod, sign int32) {
	i := p.in.index
	o := j.occupants[i]
	if sign > 0 {
		p.beside, o.pods = o.pods, p
	} else {
		for at := &o.pods; *at != nil; at = &(*at).beside {
			if *at == p {
				*at = p.beside
				break
			}
		}
		p.beside = nil
	}
	j.occupants[i] = o
	j.occupy(i, sign)
}

// occupy follows how many hold an index. Creates of a Job that is not Indexed hold none.
func (j *Job) occupy(i, sign int32) {
	if i < 0 {
		return
	}
	o := j.occupants[i]
	o.n += sign
	if o.n == 0 {
		delete(j.occupants, i)
	} else {
		j.occupants[i] = o
	}
	if o.n > 1 || (o.n > 0 && (j.completed.Has(i) || j.index.failed.Has(i))) {
		j.crowded[i] = struct{}{}
	} else {
		delete(j.crowded, i)
	}
	j.retake(i)
}

// retake decides afresh whether the index needs a pod.
func (j *Job) retake(i int32) {
	if j.occupants[i].n > 0 || j.completed.Has(i) || j.index.failed.Has(i) {
		j.taken.Add(i)
	} else {
		j.taken.Remove(i)
	}
}
