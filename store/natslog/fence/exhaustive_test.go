package fence

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// explorer walks every world that can come of one.
type explorer struct {
	t     *testing.T
	way   way
	ids   map[string]int // of messages
	taken map[string]map[string]bool
	terms map[string]uint64
	seen  map[string]int // the number of a world
	back  [][]int        // from which worlds one comes
	done  []int          // worlds in which nobody has anything left to do
	limit int
}

func (x *explorer) id(message string) int {
	id, ok := x.ids[message]
	if !ok {
		id = len(x.ids) + 1
		x.ids[message] = id
	}
	return id
}

func (x *explorer) list(all []string) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "%d,", x.id(m))
	}
	return b.String()
}

// key names a world. Clocks are left out: no answer depends on them.
func (x *explorer) key(w *world) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s|%t,%d,%t", x.list(w.committed), w.dead, w.cut, w.misled)
	for _, r := range w.air {
		fmt.Fprintf(&b, "|%d,%t,%d,%d", r.expect, r.any, x.id(r.lastID), x.id(r.message))
	}
	for i := range w.writers {
		a := &w.writers[i]
		var left []string
		for _, m := range a.m.messages {
			left = append(left, string(m))
		}
		fmt.Fprintf(&b, "/%d %d %s %s %d %t %t %t", a.m.do, a.m.state.Place, a.m.state.Head.Hash, x.list(left), a.groups,
			a.m.leads, a.ended, a.finished)
		if x.way == dedupeR1 || x.way == dedupeR3 {
			fmt.Fprint(&b, " ", a.tries)
		}
		fmt.Fprintf(&b, " %s;%s;%s;%s", x.list(a.stored), x.list(a.given), x.list(a.asked), x.list(a.current))
	}
	return b.String()
}

// explore gives the first thing that goes wrong, or nil, when every world was looked at. A world from which nobody can
// come to an end is wrong, too.
func (x *explorer) explore(first world) error {
	x.ids, x.seen = map[string]int{}, map[string]int{}
	x.taken, x.terms = map[string]map[string]bool{}, map[string]uint64{}
	type item struct {
		w    world
		from int
	}
	queue := []item{{first, -1}}
	for len(queue) > 0 {
		it := queue[0] // breadth first: what goes wrong is found on a short way, of worlds without end, too
		queue = queue[1:]
		key := x.key(&it.w)
		n, known := x.seen[key]
		if !known {
			n = len(x.seen)
			x.seen[key], x.back = n, append(x.back, nil)
		}
		if it.from >= 0 {
			x.back[n] = append(x.back[n], it.from)
		}
		if known {
			continue
		}
		if n > x.limit {
			return fmt.Errorf("more than %d worlds", x.limit)
		}
		stream := x.list(it.w.committed)
		if x.taken[stream] == nil {
			x.taken[stream], x.terms[stream] = readers(it.w.committed)
		}
		if err := judge(&it.w, x.taken[stream], x.terms[stream]); err != nil {
			return err
		}
		if it.w.dead {
			return errors.New("the stream takes nothing any more")
		}
		if it.w.writers[0].done() && it.w.writers[1].done() {
			x.done = append(x.done, n)
		}
		for _, next := range moves(x.t, &it.w, x.way) {
			queue = append(queue, item{next, n})
		}
	}
	return x.stuck()
}

func (x *explorer) stuck() error {
	ends := make([]bool, len(x.back))
	queue := x.done
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if ends[n] {
			continue
		}
		ends[n] = true
		queue = append(queue, x.back[n]...)
	}
	for n := range ends {
		if !ends[n] {
			return fmt.Errorf("world %d of %d: the writers can never come to an end", n, len(ends))
		}
	}
	return nil
}

// moves are the worlds that can come next.
func moves(t testing.TB, w *world, way way) (out []world) {
	for i := range w.air {
		if next := w.clone(); next.commit(i) {
			out = append(out, next)
		}
	}
	for i := range w.writers {
		for _, place := range w.cuts(&w.writers[i], way) {
			next := w.clone()
			next.cut = place
			out = append(out, next)
		}
		if w.writers[i].done() {
			continue
		}
		for _, step := range steps(w, i, way) {
			next := w.clone()
			step(t, &next, &next.writers[i])
			out = append(out, next)
		}
	}
	return out
}

// TestTheFence: two writers, every order of commits and answers. What a writer takes as stored counts for every reader;
// who is fenced has lost the stream to a claim; and from everywhere the writers can come to an end.
func TestTheFence(t *testing.T) {
	x := &explorer{t: t, way: right, limit: 200_000}
	if err := x.explore(newWorld(t, 2)); err != nil {
		t.Error(err)
	}
	t.Logf("%d worlds, %d of them at an end", len(x.seen), len(x.done))
	if len(x.seen) < 4000 || len(x.done) < 10 {
		t.Error("the model is blind")
	}
}

// TestWrongWaysAreFound: each is a change of the writer that somebody may think of.
func TestWrongWaysAreFound(t *testing.T) {
	for way, name := range wrongWays {
		t.Run(name, func(t *testing.T) {
			x := &explorer{t: t, way: way, limit: 200_000}
			groups := 2
			if way == cutIsNothing { // all worlds are looked at before it shows
				groups = 1
			}
			err := x.explore(newWorld(t, groups))
			if err == nil {
				t.Errorf("nothing is wrong in %d worlds", len(x.seen))
			}
			t.Logf("after %d worlds: %v", len(x.seen), err)
		})
	}
}
