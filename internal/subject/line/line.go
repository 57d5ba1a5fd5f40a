package line

import (
	"iter"
	"slices"
)

// Line is a linked list of subjects (such as Jobs), ordered by when their whole state was last stored in the log, or by
// their beginning. Subjects whose state the newest file of the log lacks come first, so the next one to store is found
// in O(1).
type Line[T any] struct {
	first, last *T
	of          func(*T) *Links[T]
}

// Links are the neighbours of a member in a Line. They are fields of the member, because there may be 100,000 members.
type Links[T any] struct{ before, after *T }

// New returns an empty list. of returns the field of a member with its links.
func New[T any](of func(*T) *Links[T]) Line[T] { return Line[T]{of: of} }

// First returns the first member; nil for an empty list.
func (l *Line[T]) First() *T { return l.first }

// All yields the members in order. The list must not change meanwhile.
func (l *Line[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for t := l.first; t != nil && yield(t); t = l.of(t).after {
		}
	}
}

// ToEnd moves t to the end of the list, adding it if it is not in the list.
func (l *Line[T]) ToEnd(t *T) {
	l.Remove(t)
	if l.of(t).before = l.last; l.last == nil {
		l.first = t
	} else {
		l.of(l.last).after = t
	}
	l.last = t
}

// Remove removes t if it is in the list.
func (l *Line[T]) Remove(t *T) {
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
	*at = Links[T]{}
}

// Sort reorders the members.
func (l *Line[T]) Sort(compare func(a, b *T) int) {
	all := slices.SortedFunc(l.All(), compare)
	for _, t := range all {
		l.ToEnd(t)
	}
}
