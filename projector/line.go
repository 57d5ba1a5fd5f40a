package projector

import "slices"

// line holds subjects in the order in which they began or were last stated. Those that the newest file does not state
// yet stand before those that it does. So the next one to state is found at the front, whatever the number of subjects.
type line[T any] struct {
	first, last *T
	of          func(*T) *links[T]
}

// links are a member's place in a line. The member holds them, because there may be 100,000 members.
type links[T any] struct{ before, after *T }

func newLine[T any](of func(*T) *links[T]) line[T] { return line[T]{of: of} }

// toEnd makes t the last one, whether it was in the line or not.
func (l *line[T]) toEnd(t *T) {
	l.remove(t)
	if l.of(t).before = l.last; l.last == nil {
		l.first = t
	} else {
		l.of(l.last).after = t
	}
	l.last = t
}

// remove takes t out if it is in.
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

// sort orders the members anew.
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
