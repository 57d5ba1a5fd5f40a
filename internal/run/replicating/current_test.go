package replicating

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestWhoIsBehindSaysWhy: a process is current for a second after the stream's leader was asked where it ends, once all
// up to there is read. What is asked meanwhile does not put that off.
func TestWhoIsBehindSaysWhy(t *testing.T) {
	began := time.Unix(1e9, 0)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	var c current
	is := func(ms int, want string) {
		t.Helper()
		err := c.behind(at(ms))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("after %d ms it says %v, want %q", ms, err, want)
		}
	}
	is(0, "being read")
	c.note(at(0), 7, nil)
	c.read(6)
	is(100, "being read")
	c.note(at(250), 9, nil) // 7 is still to be reached
	c.read(8)
	is(500, "")
	is(1000, "")
	is(1001, "as of 1s ago")
	c.read(100) // nobody asked since
	is(1001, "as of 1s ago")
	c.note(at(1100), 9, nil)
	c.read(9)
	is(2100, "")
	c.note(at(2000), 0, errors.New("no answer"))
	is(2100, "")
	is(2101, "no answer")
	c.note(at(3000), 9, nil)
	c.read(9)
	is(3100, "")
}
