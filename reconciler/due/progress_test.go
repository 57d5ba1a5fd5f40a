package due

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
)

// The progress of 25 Jobs is written when it is due. That of more is written at twenty a second, five at a time. No Job
// waits longer than ProgressSpread.
func TestProgressIsSpread(t *testing.T) {
	stream := func(n int) events.Stream { return events.JobStream(types.UID(fmt.Sprintf("uid-%d", n))) }
	p := NewProgress()
	due := events.Time(time.Hour)
	in := map[time.Duration]int{}
	for n := range 150 {
		in[p.Turn(stream(n), due).Sub(due)]++
	}
	if in[0] != 25 || in[250*time.Millisecond] != 5 || in[3750*time.Millisecond] != 5 || in[reconciler.ProgressSpread] != 50 {
		t.Errorf("turns after the time at which they are due: %v", in)
	}
	if again := p.Turn(stream(27), due); again.Sub(due) != 250*time.Millisecond {
		t.Errorf("the same lag has another turn, %s later", again.Sub(due))
	}
	later := due.Add(time.Minute)
	if next := p.Turn(stream(27), later); next != later {
		t.Errorf("a lag of a minute later has its turn %s after it is due", next.Sub(later))
	}
	if none := p.Turn(stream(27), 0); none != 0 || p.at[stream(27)] != 0 {
		t.Error("a Job that is not behind keeps a turn")
	}
}

// The progress of a Job is written after the Job's waiting pods are made, but at most ProgressSpread after it is due.
func TestProgressWaitsForPodsThatWait(t *testing.T) {
	const second = events.Time(time.Second)
	big, small := events.JobStream("uid-big"), events.JobStream("uid-small")
	due := 100 * second
	for _, row := range []struct {
		sentence string
		made     events.Time // until then the pods wait
		shown    events.Time
	}{
		{"no pod waits", 0, due},
		{"they are made after a second", due + second, due + second},
		{"they wait for a minute", due + 60*second, due.Add(reconciler.ProgressSpread)},
	} {
		p, now := NewProgress(), due
		busy := func(s events.Stream) bool { return s == big && now < row.made }
		if !p.Due(small, due, now, busy) {
			t.Errorf("%s: another Job waits with it", row.sentence)
		}
		for ; !p.Due(big, due, now, busy); now = p.Turn(big, due) {
			if p.Turn(big, due) <= now {
				t.Fatalf("%s: it is looked at again at once", row.sentence)
			}
		}
		if now != row.shown {
			t.Errorf("%s: shown %s after it was due, want %s", row.sentence, now.Sub(due), row.shown.Sub(due))
		}
	}
}
