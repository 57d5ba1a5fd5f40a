package oracle

import (
	"slices"
	"testing"
)

// TestShrinkEnds: a scenario is made smaller until all of it is needed, or until enough plays are spent.
func TestShrinkEnds(t *testing.T) {
	s, err := Parse("job a\n+0 create a\n+1 succeed a\n+1 fail a\n+1 kill a\n+1 touch a\n")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	fails := func(s Scenario) bool {
		played++
		return s.does("fail")
	}
	if small := shrink(s, fails, func() bool { return false }); small.String() != "job a\n+1 fail a\n" {
		t.Errorf("it becomes\n%s", small)
	}
	played = 0
	small := shrink(s, fails, func() bool { return played >= 2 })
	if played != 2 || !small.does("fail") || len(small.Steps) >= len(s.Steps) {
		t.Errorf("after %d plays it is\n%s", played, small)
	}
}

// TestChoices: for a few steps each choice is tried; for many, the plays do not double with each step.
func TestChoices(t *testing.T) {
	few := choices([]int{2, 5, 7})
	for _, want := range [][]int{{2}, {5}, {7}, {2, 5}, {2, 7}, {5, 7}, {2, 5, 7}} {
		if !slices.ContainsFunc(few, func(got []int) bool { return slices.Equal(got, want) }) {
			t.Errorf("%v is not among %v", want, few)
		}
	}
	all := make([]int, 16)
	for n := range all {
		all[n] = n
	}
	if many := choices(all); len(few) != 7 || len(choices(all[:6])) != 63 || len(choices(all[:7])) != 57 || len(many) != 273 {
		t.Errorf("there are %d, %d, %d and %d", len(few), len(choices(all[:6])), len(choices(all[:7])), len(many))
	}
}

// TestRestartsForgetNothingElse: J-108 explains only the effects of a backoff. Each row is a scenario that it must not
// explain.
func TestRestartsForgetNothingElse(t *testing.T) {
	for _, row := range []struct{ sentence, scenario string }{
		{"nothing restarts", "job a completions=3 parallelism=3\n+0 create a\n+1 fail a.*\n+1 fail a.*\n+1 succeed a.*\n"},
		{"no pod fails", "job a completions=3 parallelism=3\n+0 create a\n+1 start\n+1 succeed a.*\n"},
		{"the log is lost anyway", "job a completions=3 parallelism=3\n+0 create a\n+1 fail a.*\n+1 start lost\n+1 fail a.*\n+1 succeed a.*\n"},
	} {
		s, err := Parse(row.scenario)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := kept(&player{T: t}, s, through(s), 1); err != nil || found != nil {
			t.Errorf("%s: %v, %v", row.sentence, found, err)
		}
	}
}
