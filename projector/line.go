package projector

import "slices"

// line is a linked list of subjects, ordered by when they began or were last checkpointed. Subjects that the newest
// file does not have yet come first, so the next one to checkpoint is at the front, in O(1).
type line[T any] struct {
	first, last *T
	of          func(*T) *links[T]
}

// links are a member's neighbours in a line. They are part of the member, because there may be 100,000 members.
type links[T any] struct{ before, after *T }

func newLine[T any](of func(*T) *links[T]) line[T] { return line[T]{of: of} }

// toEnd moves t to the end, adding it if it is not in the line.
func (l *line[T]) toEnd(t *T) {
	l.remove(t)
	if l.of(t).before = l.last; l.last == nil {
		l.first = t
	} else {
		l.of(l.last).after = t
	}
	l.last = t
}

// remove removes t if it is in the line.
func (l *line[T]) remove(t *T) {
	at := l.of(t)
	if at.before == nil && l.first != t {
		return
	}
	if at.before == nil {
		l.first = at.after
	} else {
		l.of(at.before).after = at.after
	}
	if at.after == nil {
		l.last = at.before
	} else {
		l.of(at.after).before = at.before
	}
	*at = links[T]{}
}

// sort reorders the members.
func (l *line[T]) sort(compare func(a, b *T) int) {
	var all []*T
	for t := l.first; t != nil; t = l.of(t).after {
		all = append(all, t)
	}
	slices.SortFunc(all, compare)
	for _, t := range all {
		l.toEnd(t)
	}
}
