package explain_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
)

var (
	javaTrace = "Exception in thread \"main\" java.lang.IllegalStateException: cannot start\n" +
		frames("\tat com.example.App.step%02d(App.java:%[1]d)", 30) +
		"Caused by: java.net.ConnectException: Connection refused (Connection refused)\n" +
		frames("\tat java.net.Socket.connect%02d(Socket.java:%[1]d)", 20) + "\t... 12 more"
	pythonTrace = "Traceback (most recent call last):\n" + frames("  File \"/app/run.py\", line %d, in load", 20) +
		"psycopg.OperationalError: connection to server at 10.0.0.7 failed: timeout expired"
	goPanic = "starting\n" + frames("read shard %d of the input, nothing to do here", 12) +
		"panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d\nexit status 2"
	nodeError = frames("listening on port 80%02d, waiting for work", 12) + "Error: connect ECONNREFUSED 10.0.0.7:5432\n" +
		frames("    at step%d (net.js:1555:16)", 3) + "Node.js v22.3.0"
	plainLog = frames("copied part %d of 900 to the archive", 40) + "no space left on device"
)

func frames(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// TestALongTextIsQuotedByItsFirstLineAndItsCause: the last line that names a cause is not cut away, whichever language
// wrote it.
func TestALongTextIsQuotedByItsFirstLineAndItsCause(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{javaTrace, `"Exception in thread \"main\" java.lang.IllegalStateException: cannot start" … 30 lines … ` +
			`"Caused by: java.net.ConnectException: Connection refused (Connection refused)" … 21 lines`},
		{pythonTrace, `"Traceback (most recent call last):" … 20 lines … ` +
			`"psycopg.OperationalError: connection to server at 10.0.0.7 failed: timeout expired"`},
		{goPanic, `"starting" … 12 lines … "panic: runtime error: index out of range [3] with length 3" … 5 lines`},
		{nodeError, `"listening on port 8000, waiting for work" … 11 lines … "Error: connect ECONNREFUSED 10.0.0.7:5432" … 4 lines`},
		{plainLog, `"copied part 0 of 900 to the archive" … 39 lines … "no space left on device"`},
		{"two lines\n" + strings.Repeat("y", 300), `"two lines" "` + strings.Repeat("y", explain.MostLine) + `…"`},
		{strings.Repeat("x", 120) + strings.Repeat("y", 130), `"` + strings.Repeat("x", explain.MostLine) + `…" … "…` +
			strings.Repeat("y", explain.MostLine) + `"`},
	} {
		p := explain.Wrote("main", &events.ContainerEnd{Message: c.text})
		if want := "main wrote: " + c.want; p.Cut != want {
			t.Errorf("it is quoted as\n%s\nwant\n%s", p.Cut, want)
		}
		if want := "main wrote:\n" + c.text; p.Whole != want {
			t.Errorf("whole it is %q, want %q", p.Whole, want)
		}
	}
}

// TestWhatFitsIsNotCut: at the edges of what a line quotes.
func TestWhatFitsIsNotCut(t *testing.T) {
	for _, n := range []int{1, explain.MostQuoted - 1, explain.MostQuoted, explain.MostQuoted + 1} {
		text := strings.Repeat("x", n)
		p, m := explain.Wrote("main", &events.ContainerEnd{Message: "\n" + text + "\n"}), explain.Beginning(text)
		if fits := n <= explain.MostQuoted; (p.Cut == p.Whole) != fits || (m.Cut == m.Whole) != fits || m.Whole != text {
			t.Errorf("%d bytes: cut %t and %t", n, p.Cut != p.Whole, m.Cut != m.Whole)
		}
	}
	refused := `Back-off pulling image "corp/etl:1": ErrImagePull: failed to pull and unpack image "corp/etl:1": ` +
		strings.Repeat("x", 300) +
		": dial tcp 10.0.0.7:443: connect: connection refused"
	if got := explain.Beginning(refused); !strings.HasPrefix(got.Cut, `Back-off pulling image "corp/etl:1"`) ||
		!strings.HasSuffix(got.Cut, "connect: connection refused") ||
		len(got.Cut) > explain.MostQuoted+20 || got.Whole != refused {
		t.Errorf("an error is shown as %q", got.Cut)
	}
	if got := explain.Say(nil, "%s: %s", "w", explain.Beginning("short")); got.Text != "w: short" || got.Whole != "" {
		t.Errorf("a sentence with nothing cut is %+v", got)
	}
	if got := explain.Say(nil, "%s: %s", "w", explain.Beginning(strings.Repeat("é", 200))); got.Text != "w: "+strings.Repeat("é",
		120)+"…" ||
		got.Whole != "w: "+strings.Repeat("é", 200) {
		t.Errorf("a sentence with a cut is %+v", got)
	}
}

// TestAnyTextIsQuotedWithinBounds: whatever a program writes, the line is short and UTF-8, the counted lines add up,
// and all of it is kept.
func TestAnyTextIsQuotedWithinBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 2))
	pieces := []string{"\n", "\n\n", "é", "\xff", "\t", " ", "Error: ", "Caused by: x", strings.Repeat("z", 100), "a b c",
		"\r\n", "\x00"}
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(60) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		text := strings.TrimSpace(b.String())
		p := explain.Wrote("main", &events.ContainerEnd{Message: text})
		// A quoted byte takes four at most.
		if !utf8.ValidString(p.Cut) || len(p.Cut) > 40+4*explain.MostQuoted {
			t.Fatalf("of %q it shows %d bytes: %s", text, len(p.Cut), p.Cut)
		}
		if len(text) <= explain.MostQuoted {
			continue
		}
		if p.Whole != "main wrote:\n"+text {
			t.Fatalf("of %q it keeps %q", text, p.Whole)
		}
		if lines := strings.Count(text, "\n") + 1; lines > 1 && countedLines(p.Cut) != lines {
			t.Fatalf("of %d lines it tells %d: %s", lines, countedLines(p.Cut), p.Cut)
		}
	}
}

// countedLines is how many lines an excerpt tells of: two that are quoted, and those between and behind.
func countedLines(cut string) int {
	n := 2
	for _, part := range strings.Split(cut, " … ")[1:] {
		var left int
		if _, err := fmt.Sscanf(part, "%d line", &left); err == nil {
			n += left
		}
	}
	return n
}
