package fence

import (
	"errors"
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
)

// way is how a writer works: the right way, or a wrong one.
type way uint8

const (
	right way = iota
	pipelined
	lastMessageID
	dedupeR1
	dedupeR3
	refusalIsFenced
	refusalIsNotStored
	numberIsExpectation
	infoIsProof
	directGetIsProof
	oneTryOnly
	firstPartIsEnough
	noFence
	noCheckOfBefore
	cutIsNothing
	cutAnywhere
)

var wrongWays = map[way]string{
	pipelined:           "many messages on their way, each with the place that it is thought to get",
	lastMessageID:       "the last message's ID as the expectation",
	dedupeR1:            "a message ID: who is refused the second time was not stored the first time",
	dedupeR3:            "a message ID: what is a duplicate is stored",
	refusalIsFenced:     "a refusal means that another writer has the stream",
	refusalIsNotStored:  "a refusal means that the message is not stored",
	numberIsExpectation: "the number in a refusal is the next expectation",
	infoIsProof:         "the end that the stream's info says is proof that a message is not stored",
	directGetIsProof:    "a place where nothing is found is proof that a message is not stored",
	oneTryOnly:          "a message without an answer is not stored",
	firstPartIsEnough:   "a group is acted on with its first part",
	noFence:             "no expectation: the Lease is enough",
	noCheckOfBefore:     "a claim stays as it is when records came before it",
	cutIsNothing:        "a place that was cut is one that is not taken yet",
	cutAnywhere:         "the stream is cut before a part that goes on with another one",
}

// step is one thing that can happen to a writer.
type step func(t testing.TB, w *world, a *actor)

// steps are what can happen to a writer now, of its own or by an answer.
func steps(w *world, i int, way way) []step {
	a := &w.writers[i]
	if way == pipelined && len(a.asked) > 0 {
		return pipelinedSteps(w, a)
	}
	switch a.m.do {
	case Idle:
		return []step{func(t testing.TB, w *world, a *actor) { begin(t, w, a, way) }}
	case Send:
		return sendSteps(w, a, way)
	case Look:
		var out []step
		for _, s := range w.answers(Look, a.m.state.Place+1, "") {
			out = append(out, func(t testing.TB, w *world, a *actor) { looked(t, w, a, s, way) })
		}
		return out
	case Recent:
		var out []step
		for _, s := range w.answers(Recent, 0, "") {
			out = append(out, func(t testing.TB, w *world, a *actor) { went(t, w, a, a.m.Newest(a.m.until, s.place), way) })
		}
		return out
	case Pause:
		return []step{func(t testing.TB, w *world, a *actor) { went(t, w, a, a.m.Tick(a.m.until), way) }}
	case End:
	}
	return nil
}

// begin is what an idle writer does next: its claim, a group, or a look at the newest message.
func begin(t testing.TB, w *world, a *actor, way way) {
	head := a.m.state.Head
	switch {
	case !a.m.leads:
		store1(t, w, a, encoded(t, a.segment(natslog.Claim, head), 1), way)
	case a.groups == 0:
		went(t, w, a, a.m.Tick(a.m.until), way)
	case way == pipelined && a.name == "a":
		for place := a.m.state.Place; a.groups > 0; a.groups-- {
			var all [][]byte
			all, head = a.group(t, head, 1)
			w.send(request{expect: place, message: string(all[0])})
			a.asked = append(a.asked, string(all[0]))
			place++
		}
	default:
		a.groups--
		parts := 1
		if a.name == "a" && head.Sequence == 0 {
			parts = 2
		}
		all, _ := a.group(t, head, parts)
		store1(t, w, a, all, way)
	}
}

func store1(t testing.TB, w *world, a *actor, messages [][]byte, way way) {
	action, err := a.m.Store(a.m.until, messages)
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	a.current, a.tries = nil, 0
	for _, m := range messages {
		a.current = append(a.current, string(m))
	}
	went(t, w, a, action, way)
}

// went takes the next action of a machine: a request leaves at once, and what is stored is acted on.
func went(t testing.TB, w *world, a *actor, action Action, way way) {
	if action.Stored || way == firstPartIsEnough && len(a.m.messages) < len(a.current) {
		a.stored = append(a.stored, a.current...)
		a.current = nil
	}
	switch action.Do {
	case Send:
		r := request{expect: action.Place, message: string(action.Message)}
		switch way {
		case noFence:
			r.any = true
		case lastMessageID:
			r.lastID = w.at(action.Place)
		}
		a.tries = min(a.tries+1, 2)
		w.send(r)
	case End:
		if errors.Is(action.Err, ErrCut) { // it is started again
			a.m, a.current = w.begins(t), nil
			return
		}
		a.ended = true
	case Idle:
		a.finished = a.name == "b" && a.groups == 0 && a.m.leads // a looks at the newest message until it is fenced
	case Look, Recent, Pause:
	}
}

// giveUp takes what is on its way as not stored.
func (a *actor) giveUp() {
	a.given, a.current, a.m.messages = append(a.given, a.current...), nil, nil
	a.m.idle(a.m.until)
}

// sendSteps are the answers to a request: an acknowledgement where it is stored, a refusal at any time, or none.
func sendSteps(w *world, a *actor, way way) (out []step) {
	for _, s := range w.answers(Send, a.m.state.Place, string(a.m.messages[0])) {
		switch {
		case s.kind == acknowledged:
			out = append(out, func(t testing.TB, w *world, a *actor) { went(t, w, a, a.m.Sent(a.m.until, s.place, false), way) })
		case s.kind == refusal && (s.place == 1 || way == numberIsExpectation || way == infoIsProof):
			out = append(out, func(t testing.TB, w *world, a *actor) { refused(t, w, a, s.place, way) })
		case s.kind == nothing:
			out = append(out, func(t testing.TB, w *world, a *actor) {
				if way == oneTryOnly {
					a.giveUp()
					return
				}
				went(t, w, a, a.m.Tick(a.m.until), way)
			})
		}
	}
	if way != noFence {
		return out
	}
	for i, m := range w.committed { // it is acknowledged wherever it is
		if m == string(a.m.messages[0]) && uint64(i) != a.m.state.Place {
			out = append(out, func(t testing.TB, w *world, a *actor) {
				a.m.state.Place = uint64(i)
				went(t, w, a, a.m.Sent(a.m.until, uint64(i+1), false), way)
			})
		}
	}
	return out
}

// refused is a refusal, with a number that may be from the past.
func refused(t testing.TB, w *world, a *actor, number uint64, way way) {
	switch {
	case way == refusalIsFenced:
		went(t, w, a, a.m.end(store.ErrFenced), way)
	case way == refusalIsNotStored, way == dedupeR1 && a.tries > 1, way == infoIsProof && number <= a.m.state.Place:
		a.giveUp()
	case way == dedupeR3 && a.tries > 1:
		went(t, w, a, a.m.stored(a.m.until), way)
	case way == numberIsExpectation:
		a.m.state.Place = number
		went(t, w, a, a.m.send(a.m.until), way)
	default:
		went(t, w, a, a.m.Sent(a.m.until, 0, false), way)
	}
}

// looked is what is found in the next place.
func looked(t testing.TB, w *world, a *actor, s said, way way) {
	found, ends := s.message, Ends{}
	if s.kind == cutOff && way != cutIsNothing {
		ends.First = s.place
	}
	if way == directGetIsProof && found == "" {
		a.giveUp()
		return
	}
	before := a.m.state.Head
	action := a.m.Looked(a.m.until, found != "", []byte(found), ends)
	if way == noCheckOfBefore && action.Overtaken != nil {
		a.m.state.Head = before
	}
	went(t, w, a, action, way)
}

// pipelinedSteps are the acknowledgements of a writer with many messages on their way.
func pipelinedSteps(w *world, a *actor) (out []step) {
	for i, m := range a.asked {
		for _, c := range w.committed {
			if c == m {
				out = append(out, func(_ testing.TB, _ *world, a *actor) {
					a.asked = append(a.asked[:i:i], a.asked[i+1:]...)
					a.stored = append(a.stored, m)
				})
			}
		}
	}
	return out
}
