package events_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestWhatIsKeptOfAMessage: a message that is not kept leaves no word, and a mark that there was one.
func TestWhatIsKeptOfAMessage(t *testing.T) {
	for _, row := range []struct {
		keep, message, kept string
		withheld            bool
	}{
		{"all", "a\nb", "a\nb", false},
		{"all", "", "", false},
		{"first-line", "a\nb", "a", true},
		{"first-line", "a\r\nb", "a", true},
		{"first-line", "\n\na\nb", "a", true},
		{"first-line", "a\n", "a", false},
		{"first-line", "a\n\n \n", "a", false},
		{"first-line", "a", "a", false},
		{"first-line", "", "", false},
		{"none", "a\nb", "", true},
		{"none", "a", "", true},
		{"none", "", "", false},
	} {
		keep, err := events.ParseKeep(row.keep)
		if err != nil {
			t.Fatal(err)
		}
		if kept, withheld := keep.Of(row.message); kept != row.kept || withheld != row.withheld {
			t.Errorf("%s of %q: %q, %v", row.keep, row.message, kept, withheld)
		}
	}
	if k, err := events.ParseKeep("some"); err == nil || k != events.KeepNone {
		t.Errorf("a value that says nothing is %v, %v", k, err)
	}
	for want, w := range map[string]events.ContainerWait{
		"a":                                {Message: "a"},
		events.NotKept:                     {MessageWithheld: true},
		"a (" + events.FirstLineKept + ")": {Message: "a", MessageWithheld: true},
	} {
		if got := w.Said(); got != want {
			t.Errorf("%+v says %q, want %q", w, got, want)
		}
	}
}
