package conformance

import (
	"slices"
	"testing"
)

func TestDifferences(t *testing.T) {
	ours := []printout{{"get a", "one\ntwo\ntwo\n"}, {"get b", "three\n"}, {"get c", "four\n"}, {"get e", "  jobledger.dev/term: \"1\"\n"}}
	builtin := []printout{{"get a", "two\none\n"}, {"get b", "drei\n"}, {"get d", "four\n"}, {"get e", ""}}
	want := []string{"$ get a\nours: two", "$ get b\nours: three", "$ get b\nbuilt-in: drei", "only ours ran: get c"}
	if got := differences(ours, builtin); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := differences(ours, ours); got != nil {
		t.Errorf("a record differs from itself: %q", got)
	}
}
