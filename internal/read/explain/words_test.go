package explain_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// TestPassagesAreJoined: with what stands between them in both texts, and nothing before the first.
func TestPassagesAreJoined(t *testing.T) {
	a, b := explain.Passage{"a…", "abc"}, explain.Passage{"x", "x"}
	for n, want := range []explain.Passage{{}, a, {"a… · x", "abc · x"}} {
		if got := explain.Joined([]explain.Passage{a, b}[:n], " · "); got != want {
			t.Errorf("%d passages are %q, want %q", n, got, want)
		}
	}
	if got := explain.Passages([]string{"a", "b"}); len(got) != 2 || got[1] != (explain.Passage{"b", "b"}) {
		t.Errorf("texts are the passages %q", got)
	}
}

// TestPartsOfSentences: with one of something, with several, and with none.
func TestPartsOfSentences(t *testing.T) {
	whentest.Texts(t, [][2]string{
		{explain.Was(1), "was"}, {explain.Was(2), "were"}, {explain.Versions(1), "1 version"},
		{explain.Versions(2), "2 versions"},
		{explain.Colon("").Cut, ""}, {explain.Colon("x").Cut, ": x"}, {explain.Colon("x").Whole, ": x"},
		{explain.Says(""), "the log has no words of the server"},
		{explain.Says(`pods "x" is forbidden: no right`), "no right"},
		{explain.Says("no right"), "no right"},
		{explain.Begin("abc", 3), "abc"}, {explain.Begin("abcd", 3), "abc…"}, {explain.Begin("aä", 2), "a…"},
		{explain.End("abc", 3), "abc"}, {explain.End("abcd", 3),
			"…bcd"}, {explain.End("äa", 2), "…a"},
		{explain.Because(&explain.Sentence{Text: "FAILED after 3s: why: so"}).Cut, "why: so"},
		{explain.Because(&explain.Sentence{Text: "UNSEEN"}).Cut,
			"UNSEEN"},
		{explain.Because(&explain.Sentence{Text: "FAILED: a …", Whole: "FAILED: a b c"}).Whole, "a b c"},
		{explain.Unnamed("demo-x7k2p and demo and demon, demo-12, demo-3-abcde", "demo"), "* and * and demon, *, *"},
		{explain.Unnamed("demo",
			""), "demo"},
		{explain.Unnamed("a\xff-1 ran", "a\xff"), "*-1 ran"},
		{explain.Liken("demo-x7k2p took 12 s of 100", "demo"), "* took # s of #"},
		{words.Span(explain.Seconds(5)), "5s"},
		{fmt.Sprint(explain.Seconds(1 << 40)), fmt.Sprint(time.Duration(1<<31) * time.Second)},
		{words.Admitted(nil), ""}, {words.Admitted([]string{""}), ""},
		{words.Admitted([]string{"+a", "-b", "image x → y", "c", "…"}),
			"a added, b removed, image x → y, c changed, and more"},
		{explain.ManagerOf(nil), ""}, {explain.ManagerOf(&events.Edit{}), ""},
		{explain.ByManager(&events.Edit{Manager: "helm"}),
			" (field manager helm)"}, {explain.ByManager(nil), ""},
		{explain.GapWhy(&history.Gap{Reason: "gap", Orderly: true}), "because the log had no room"},
		{explain.GapWhy(&history.Gap{Reason: "relist", Orderly: true}), "because the watch was lost"},
		{explain.GapWhy(&history.Gap{Reason: "start", Orderly: true}), "because the controller had been stopped"},
		{explain.GapWhy(&history.Gap{Reason: "start"}), "because the controller was not running: it had not stopped in good order"},
	})
}

// TestWhatIsMissedIsTold: a read that failed, but for damage, which is noted, and for what the log does not have.
func TestWhatIsMissedIsTold(t *testing.T) {
	damage := &store.Damage{}
	src := history.Local{Damage: damage}
	broken, other := errors.New("broken"), errors.New("other")
	m := &explain.Misses{}
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
		gap := &history.Gap{From: whentest.Recorded(1), Until: recordjson.Instant(whentest.Sec(1).Add(d))}
		if got := explain.AtOnce(gap); got != want {
			t.Errorf("%s is an instant: %t", d, got)
		}
	}
	if explain.AtOnce(&history.Gap{From: whentest.Recorded(1)}) {
		t.Error("one that lasts is an instant")
	}
}
