package explain

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// TestPassagesAreJoined: with what stands between them in both texts, and nothing before the first.
func TestPassagesAreJoined(t *testing.T) {
	a, b := Passage{"a…", "abc"}, Passage{"x", "x"}
	for n, want := range []Passage{{}, a, {"a… · x", "abc · x"}} {
		if got := Joined([]Passage{a, b}[:n], " · "); got != want {
			t.Errorf("%d passages are %q, want %q", n, got, want)
		}
	}
	if got := Passages([]string{"a", "b"}); len(got) != 2 || got[1] != (Passage{"b", "b"}) {
		t.Errorf("texts are the passages %q", got)
	}
}

// TestPartsOfSentences: with one of something, with several, and with none.
func TestPartsOfSentences(t *testing.T) {
	texts(t, [][2]string{
		{Was(1), "was"}, {Was(2), "were"}, {Versions(1), "1 version"}, {Versions(2), "2 versions"},
		{Colon("").Cut, ""}, {Colon("x").Cut, ": x"}, {Colon("x").Whole, ": x"},
		{Says(""), "the log has no words of the server"}, {Says(`pods "x" is forbidden: no right`), "no right"},
		{Says("no right"), "no right"},
		{Begin("abc", 3), "abc"}, {Begin("abcd", 3), "abc…"}, {Begin("aä", 2), "a…"}, {end("abc", 3), "abc"}, {end("abcd", 3),
			"…bcd"}, {end("äa", 2), "…a"},
		{Because(&Sentence{Text: "FAILED after 3s: why: so"}).Cut, "why: so"}, {Because(&Sentence{Text: "UNSEEN"}).Cut,
			"UNSEEN"},
		{Because(&Sentence{Text: "FAILED: a …", Whole: "FAILED: a b c"}).Whole, "a b c"},
		{Unnamed("demo-x7k2p and demo and demon, demo-12, demo-3-abcde", "demo"), "* and * and demon, *, *"}, {Unnamed("demo",
			""), "demo"},
		{Liken("demo-x7k2p took 12 s of 100", "demo"), "* took # s of #"},
		{words.Span(Seconds(5)), "5s"}, {fmt.Sprint(Seconds(1 << 40)), fmt.Sprint(time.Duration(1<<31) * time.Second)},
		{words.Admitted(nil), ""}, {words.Admitted([]string{""}), ""},
		{words.Admitted([]string{"+a", "-b", "image x → y", "c", "…"}),
			"a added, b removed, image x → y, c changed, and more"},
		{ManagerOf(nil), ""}, {ManagerOf(&events.Edit{}), ""}, {ByManager(&events.Edit{Manager: "helm"}),
			" (field manager helm)"}, {ByManager(nil), ""},
		{GapWhy(&history.Gap{Reason: "gap", Orderly: true}), "because the log had no room"},
		{GapWhy(&history.Gap{Reason: "relist", Orderly: true}), "because the watch was lost"},
		{GapWhy(&history.Gap{Reason: "start", Orderly: true}), "because the controller had been stopped"},
		{GapWhy(&history.Gap{Reason: "start"}), "because the controller was not running: it had not stopped in good order"},
	})
}

// TestWhatIsMissedIsTold: a read that failed, but for damage, which is noted, and for what the log does not have.
func TestWhatIsMissedIsTold(t *testing.T) {
	damage := &store.Damage{}
	src := history.Local{Damage: damage}
	broken, other := errors.New("broken"), errors.New("other")
	m := &Misses{}
	for _, err := range []error{nil, store.ErrPruned, history.ErrNoRecord, history.ErrNoJob, history.ErrNoCronJob,
		fmt.Errorf("read: %w", store.ErrPruned), &store.CorruptError{At: 3}} {
		if m.Miss(src, err); m.Unread() != nil {
			t.Errorf("%v: %v", err, m.Unread())
		}
	}
	m.Miss(src, broken)
	if m.Miss(src, other); !errors.Is(m.Unread(), broken) || len(damage.Met()) != 1 {
		t.Errorf("%v, noted %v", m.Unread(), damage.Met())
	}
}

// TestShortGaps: a relist that followed within 50 ms is none.
func TestShortGaps(t *testing.T) {
	for d, want := range map[time.Duration]bool{0: true, 49 * time.Millisecond: true, 50 * time.Millisecond: false,
		time.Hour: false} {
		if got := AtOnce(&history.Gap{From: recorded(1), Until: recordjson.Instant(sec(1).Add(d))}); got != want {
			t.Errorf("%s is an instant: %t", d, got)
		}
	}
	if AtOnce(&history.Gap{From: recorded(1)}) {
		t.Error("one that lasts is an instant")
	}
}

// sec is an instant so many seconds behind a beginning; package whentest, which imports this one, has the same.
func sec(n float64) events.Time { return events.Time(1_780_000_000e9 + int64(n*1e9)) }

func recorded(n float64) recordjson.Instant { return recordjson.Instant(sec(n)) }

func texts(t *testing.T, rows [][2]string) {
	t.Helper()
	for i, row := range rows {
		if row[0] != row[1] {
			t.Errorf("row %d: %q, want %q", i+1, row[0], row[1])
		}
	}
}
