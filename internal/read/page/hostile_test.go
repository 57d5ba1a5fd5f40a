package page_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/examples/incidents"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// TestHostileTexts: whatever others wrote, a page, a file, a picture and Markdown have no element, attribute or
// invisible character of theirs.
func TestHostileTexts(t *testing.T) {
	dir := t.TempDir()
	if err := incidents.Write("delegated", dir); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lists := joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log), Dir: dir})
	for i, text := range historytest.HostileTexts {
		h := over(func(d *store.Damage) history.Source {
			return historytest.Hostile{Source: history.Local{Log: log, Lists: lists, Damage: d}, Text: text}
		}, text, "")
		told := false
		for _, address := range []string{
			"/", "/job/crash-loop/crashloop", "/job/crash-loop/crashloop?o=file",
			"/job/crash-loop/crashloop?o=svg",
			"/job/crash-loop/crashloop?o=md", "/find?q=crash", "/record/840",
		} {
			if address == "/" && i%3 != 0 {
				continue // it explains all Jobs
			}
			w := get(t, h, address)
			if w.Code != http.StatusOK {
				t.Errorf("%s with %.40q: %d %s", address, text, w.Code, w.Body)
				continue
			}
			body := w.Body.String()
			for _, bad := range []string{"<script>alert", "<img", "<b>theirs", "<x>", "<!--", "\x1b", "\u202e", "\u2066", "\x00"} {
				if strings.Contains(body, bad) && !(strings.HasSuffix(address, "=md") && strings.HasPrefix(bad, "<")) { // in Markdown they stand in a code span
					t.Errorf("%s with %.40q has %q", address, text, bad)
				}
			}
			told = told || strings.Contains(body, "alert(1)") || strings.Contains(body, strings.Repeat("0123456789abcdef", 8))
			switch kind := w.Header().Get("Content-Type"); {
			case strings.HasPrefix(kind, "text/html"):
				harmless(t, address, w)
			case kind == "image/svg+xml":
				wellFormed(t, address, w.Body.Bytes())
			}
			if n := len(body); n > 1<<20 {
				t.Errorf("%s with %.40q has %d bytes", address, text, n)
			}
		}
		if !told && (strings.Contains(text, "alert") || len(text) > 4000) {
			t.Errorf("no page shows %.40q: the text does not come through", text)
		}
	}
}
