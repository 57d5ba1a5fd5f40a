package fence

import "slices"

// saidKind is the sort of an answer.
type saidKind uint8

const (
	nothing      saidKind = 0 // none, an error, or that nothing is found
	acknowledged saidKind = 1
	refusal      saidKind = 2 // wrong last sequence: place
	found        saidKind = 3
	newest       saidKind = 4
	cutOff       saidKind = 5 // nothing is found, and the stream begins with place
)

// said is an answer of the stream.
type said struct {
	kind    saidKind
	place   uint64
	message string // found
}

// answers are all that the stream may say to a request of that kind. Any may be from the past, but what is acknowledged
// or found.
func (w *world) answers(do Do, place uint64, message string) []said {
	out := []said{{}}
	switch do {
	case Send:
		if w.at(place+1) == message {
			out = append(out, said{kind: acknowledged, place: place + 1})
		}
		for n := range uint64(len(w.committed)+len(w.air)) + 1 { // it counts what is proposed, which may never come
			out = append(out, said{kind: refusal, place: n})
		}
	case Look:
		for n := w.cut; n > place; n-- { // a server that has cut less says so, too
			out = append(out, said{kind: cutOff, place: n})
		}
		if at := w.at(place); at != "" && place >= w.cut {
			out = append(out, said{kind: found, place: place, message: at})
		}
	case Recent:
		for n := range uint64(len(w.committed)) {
			out = append(out, said{kind: newest, place: n + 1})
		}
	case Idle, Pause, End:
	}
	return out
}

// allows reports whether the stream may say that.
func (w *world) allows(do Do, place uint64, message string, s said) bool {
	return slices.Contains(w.answers(do, place, message), s)
}
