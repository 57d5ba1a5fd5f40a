package verdict

import (
	"strings"
	"testing"
	"time"
)

// TestSpansAtTheirEdges: in whole units, and never longer than it took.
func TestSpansAtTheirEdges(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "under 1 s", time.Second - 1: "under 1 s", time.Second: "1 s", time.Minute - 1: "59 s", time.Minute: "1m00s", 61 * time.Second: "1m01s",
		time.Hour - 1: "59m59s", time.Hour: "1h00m", 61 * time.Minute: "1h01m", 2*day - 1: "47h59m", 2 * day: "2d00h", 2*day + time.Hour: "2d01h",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// TestClipsFit: of every length, in every room. Both ends of what is cut are there, and what fits is not cut.
func TestClipsFit(t *testing.T) {
	const all = "abcdefghijklmnopqrstuvwxyz"
	for n := range len(all) + 1 {
		for room := range len(all) + 3 {
			s := all[:n]
			got := clip(s, room)
			switch head, tail, is := strings.Cut(got, cut); {
			case n <= room && got != s, len(got) > room:
				t.Errorf("%q in %d columns is %q", s, room, got)
			case n > room && room > len(cut) && (!is || len(got) != room || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) || head == ""):
				t.Errorf("%q in %d columns is %q", s, room, got)
			case n > room && room > 2*len(cut) && tail == "":
				t.Errorf("%q in %d columns is %q, without its end", s, room, got)
			}
		}
	}
}
