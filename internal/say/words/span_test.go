package words

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Microsecond: "0s", 38 * time.Millisecond: "38ms", 999600 * time.Microsecond: "1s",
		1050 * time.Millisecond: "1.1s", 29300 * time.Millisecond: "29.3s", 59960 * time.Millisecond: "1m",
		time.Minute: "1m", 80 * time.Second: "1m20s", 460 * time.Second: "7m40s", 20 * time.Minute: "20m", 10*time.Minute + time.Second: "10m1s",
		time.Hour - 400*time.Millisecond: "1h", 150 * time.Minute: "2h30m", 20 * time.Hour: "20h", 10*time.Hour + 10*time.Minute: "10h10m",
		48*time.Hour - time.Second: "2d", 71 * time.Hour: "2d23h", 240 * time.Hour: "10d", 30 * 24 * time.Hour: "30d",
		-80 * time.Second: "-1m20s",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

// TestSpanParsesBack: what is written is the duration, but for less than one part in twenty, or half of what is written
// finest.
func TestSpanParsesBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := []time.Duration{math.MaxInt64, math.MinInt64 + 1, math.MinInt64}
	for n := range 200_000 {
		all = append(all, time.Duration(random.Int64N(1<<(10+n%53))))
		all = append(all, time.Duration(n)*time.Second, time.Duration(n)*time.Minute)
	}
	for _, d := range all {
		text := Span(d)
		back, ok := parseSpan(strings.TrimPrefix(text, "-"))
		if strings.HasPrefix(text, "-") {
			back = -back
		}
		if d == math.MinInt64 {
			continue // it is written as 0: no record has it
		}
		if off := (back - d).Abs(); !ok || off > max(time.Millisecond/2, d.Abs()/20) {
			t.Fatalf("%v is written %q, which is %v", d, text, back)
		}
	}
}

var spanPart = regexp.MustCompile(`^([0-9]+)d`)

func parseSpan(s string) (d time.Duration, ok bool) {
	if m := spanPart.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		if d, s = time.Duration(n)*day, s[len(m[0]):]; s == "" {
			return d, true
		}
	}
	rest, err := time.ParseDuration(s)
	return d + rest, err == nil
}
