package trigger

import (
	"strings"
	"testing"
	"time"
)

// TestAValueIsReadAsItWasWritten: what is asked comes through the annotation whole, in the zone of the log.
func TestAValueIsReadAsItWasWritten(t *testing.T) {
	at := time.Date(2026, 3, 2, 10, 15, 0, 250e6, time.FixedZone("", 3600))
	for _, r := range []Request{
		{At: at, ID: "9f3c0a1be2d4", By: "alice"},
		{At: at, ID: "a-1", By: "system:serviceaccount:batch:ci"},
		{At: at, ID: "1", By: "Alice of the day shift"},
		{At: at, ID: "1"},
	} {
		got, err := Parse(r.String())
		if err != nil || !got.At.Equal(r.At) || got.At.Location() != time.UTC || got.ID != r.ID || got.By != r.By {
			t.Errorf("%q is read as %+v, %v", r.String(), got, err)
		}
	}
	r := Request{At: at, ID: "1", By: "alice"}
	if got := r.String(); got != "2026-03-02T09:15:00.250Z 1 alice" {
		t.Errorf("the value is %q", got)
	}
}

// TestWhatIsNoRequest: an annotation that something else wrote asks for nothing.
func TestWhatIsNoRequest(t *testing.T) {
	for sentence, value := range map[string]string{
		"empty":                       "",
		"a word":                      "now",
		"a time without its fraction": "2026-03-02T09:15:00Z 1 alice",
		"a time of another zone":      "2026-03-02T09:15:00.250+01:00 1 alice",
		"a time alone":                "2026-03-02T09:15:00.250Z",
		"no ID":                       "2026-03-02T09:15:00.250Z  alice",
		"an ID with other letters":    "2026-03-02T09:15:00.250Z ../x alice",
		"an ID without an end":        "2026-03-02T09:15:00.250Z " + strings.Repeat("1", mostID+1),
		"a name without an end":       "2026-03-02T09:15:00.250Z 1 " + strings.Repeat("a", mostBy+1),
		"a name that is no text":      "2026-03-02T09:15:00.250Z 1 \xff",
	} {
		if got, err := Parse(value); err == nil {
			t.Errorf("%s: %q is read as %+v", sentence, value, got)
		} else if len(err.Error()) > 200 {
			t.Errorf("%s: the error has %d bytes", sentence, len(err.Error()))
		}
	}
}

// TestNamesFit: the name of any user fits into a value, and stays text.
func TestNamesFit(t *testing.T) {
	for _, user := range []string{"", "alice", " alice ", strings.Repeat("é", mostBy), "a\xffb", strings.Repeat("a", mostBy-1) + "é"} {
		r := Request{At: time.Unix(0, 0), ID: "1", By: Name(user)}
		if got, err := Parse(r.String()); err != nil || got.By != r.By {
			t.Errorf("%q: %+v, %v", user, got, err)
		}
	}
}
