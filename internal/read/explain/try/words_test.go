package try

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestWordsForTries: for one pod, for several, and for what each of them waits for.
func TestWordsForTries(t *testing.T) {
	pods := []*Try{{Pod: "a", Node: "n1"}, {Pod: "b"}, {Pod: "c"}}
	ms := int64(5)
	whentest.Texts(t, [][2]string{
		{List([]string{"x"}, "runs", "run"), "x runs"}, {List([]string{"x", "y"}, "runs", "run"), "x, y run"},
		{PodsText(pods[:1]), "a"}, {PodsText(pods[:2]), "a and 1 other pod"}, {PodsText(pods), "a and 2 other pods"},
		{On("n"), " on n"}, {On(""), ""}, {Count(1), "1 try"}, {Count(2), "2 tries"},
		{nameOf(&events.ContainerEnd{Name: "a"}), "a"}, {nameOf(&events.ContainerEnd{Name: "a", Kind: events.InitContainer}),
			"init container a"},
		{(&Waiting{Reason: "R"}).Word(), "R"}, {(&Waiting{Reason: "R", By: []string{"a", "b"}}).Word(), "R by a, b"},
		{fmt.Sprint((&Waiting{Said: whentest.Seen(3, 3)}).SaidBy()), fmt.Sprint(explain.Mark{})},
		{fmt.Sprint((&Waiting{Said: whentest.Seen(3, 3), Message: "m"}).SaidBy()), fmt.Sprint(whentest.Seen(3, 3))},
		{(&Try{Waits: []Waiting{{Reason: "R"}}}).WaitText(), "R"}, {(&Try{Waits: []Waiting{{Reason: "R",
			Until: whentest.Seen(3, 3)}}}).WaitText(), ""}, {(&Try{}).WaitText(), ""},
		{(&Try{Waits: []Waiting{{Reason: "R", Message: "m"}}}).WaitsText().Cut, "R: m"}, {(&Try{}).WaitsText().Cut, ""},
		{fmt.Sprint((&Try{Asked: whentest.Sec(3), Grace: &ms}).StopsAt()), fmt.Sprint(whentest.Sec(8))},
		{fmt.Sprint((&Try{Asked: whentest.Sec(3)}).StopsAt()), fmt.Sprint(whentest.Sec(3))},
	})
}

// TestHowTriesEnded: the containers of a pod that failed, or what else is said of its end.
func TestHowTriesEnded(t *testing.T) {
	again := whentest.Exit("again", 1, func(k *events.ContainerEnd) { k.Again = true })
	lost := whentest.Exit("lost", 255, func(k *events.ContainerEnd) { k.Reason = "Unknown" })
	for _, row := range []struct {
		try      Try
		want     string
		restarts int // containers that are to run again
	}{
		{Try{}, "no exit code is known", 0},
		{Try{Containers: []events.ContainerEnd{whentest.Exit("a", 0, nil), whentest.Exit("b", 2, nil), whentest.Exit("c", 3,
			nil), again}}, "b exit 2, c exit 3", 1},
		{Try{Containers: []events.ContainerEnd{again}, Reason: "Evicted"}, "Evicted", 1},
		{Try{Containers: []events.ContainerEnd{lost}, Reason: "Evicted", Message: "m"}, "Evicted: m", 0},
		{Try{Containers: []events.ContainerEnd{whentest.Exit("a", 0, nil), lost}},
			"how lost ended is unknown (Unknown): its node found no trace of it", 0},
	} {
		if got := ExitText(&row.try); got != row.want || len(restarted(row.try.Containers)) != row.restarts {
			t.Errorf("%+v: %q, want %q; %d run again", row.try, got, row.want, len(restarted(row.try.Containers)))
		}
	}
	end := func(name string, n float64, change func(*events.ContainerEnd)) events.ContainerEnd {
		return whentest.Exit(name, 0, func(k *events.ContainerEnd) {
			if k.Finished = whentest.Sec(n); change != nil {
				change(k)
			}
		})
	}
	x := &Try{Pod: "p", Containers: []events.ContainerEnd{
		whentest.Exit("failed", 1, nil), end("init", 1, func(k *events.ContainerEnd) { k.Kind = events.InitContainer }),
		end("b", 5, nil), end("c", 7, nil),
		end("a", 3, nil), end("again", 1, func(k *events.ContainerEnd) { k.Again = true }), end("d", 3, nil),
	}}
	first := x.DoneFirst()
	if first == nil || first.Name != "a" || x.OthersThan(first) != "b, c" {
		t.Fatalf("first ended %+v, behind it %s", first, x.OthersThan(first))
	}
	if last := x.OthersThan(&x.Containers[3]); last != "other containers of p" {
		t.Errorf("behind the last: %s", last)
	}
	if (&Try{Containers: x.Containers[:2]}).DoneFirst() != nil {
		t.Error("an init container is a regular one")
	}
}
