package page_test

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/examples/incidents"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

var update = flag.Bool("update", false, "write testdata")

// site is the pages of a recorded log.
func site(t *testing.T, name string) http.Handler {
	t.Helper()
	return siteAt(t, name, "")
}

// siteAt is the pages of a recorded log, below a path.
func siteAt(t *testing.T, name, base string) http.Handler {
	t.Helper()
	dir := t.TempDir()
	if err := incidents.Write(name, dir); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	lists := joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log), Dir: dir})
	return over(func(d *store.Damage) history.Source { return history.Local{Log: log, Lists: lists, Damage: d} }, "sample", base)
}

// over is the pages of a source. Its clock stands still, behind all that was recorded, and no request takes too long.
func over(source func(*store.Damage) history.Source, where, base string) http.Handler {
	return page.New(page.Config{Where: where, Base: base, Within: 24 * time.Hour, Source: func(
		_ *http.Request, _ page.About, d *store.Damage, note func(string),
	) (page.Given, error) {
		return page.Given{Source: ask.Source{
			Source: source(d), Note: note, Behind: func(string) {}, Damage: d,
			Clock: func() time.Time { return time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC) },
		}}, nil
	}})
}

func get(t *testing.T, h http.Handler, address string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, address, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// golden are the pages that are kept as text: of each screen one, and of each sort of incident.
var golden = []struct{ log, file, address string }{
	{"delegated", "now.html", "/"},
	{"delegated", "job.html", "/job/backoff-limit/etl-orders"},
	{"delegated", "job.svg", "/job/backoff-limit/etl-orders?o=svg"},
	{"delegated", "job.file.html", "/job/backoff-limit/etl-orders?o=file"},
	{"delegated", "then.html", "/job/backoff-limit/etl-orders?at=500"},
	{"delegated", "../../../../docs/timeline.svg", "/job/bad-indexes/shards?o=svg"}, // the picture of README.md
	{"observed", "observed.svg", "/job/backoff-limit/etl-orders?o=svg"},
	{"delegated", "find.html", "/find?q=etl"},
	{"delegated", "record.html", "/record/1269"},
	{"cronjobs-run", "crons.html", "/"},
}

// TestGoldenPages holds pages over the recorded incidents against texts that were read. With -update it writes them.
func TestGoldenPages(t *testing.T) {
	sites := map[string]http.Handler{}
	for _, g := range golden {
		if sites[g.log] == nil {
			sites[g.log] = site(t, g.log)
		}
		w := get(t, sites[g.log], g.address)
		if w.Code != http.StatusOK {
			t.Errorf("%s of %s: %d %s", g.address, g.log, w.Code, w.Body)
			continue
		}
		path := filepath.Join("testdata", g.file)
		if *update {
			if err := os.WriteFile(path, w.Body.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(w.Body.String(), "\n")); diff != "" {
			t.Errorf("%s of %s is not %s (-update writes it):\n%s", g.address, g.log, path, diff)
		}
	}
}

var addresses = regexp.MustCompile(`(?:href|src|action)="([^"#]*)`)

// TestEveryLinkLeadsToAPage follows the links of all pages of each recorded log, and of one that is shown below a path,
// to a bound.
func TestEveryLinkLeadsToAPage(t *testing.T) {
	for _, name := range incidents.Names {
		t.Run(name, func(t *testing.T) { followed(t, site(t, name), "", 40) })
	}
	t.Run("below a path", func(t *testing.T) {
		const base = "/batch/jobledger"
		h := siteAt(t, "cronjobs-run", base)
		followed(t, h, base, 25)
		if w := get(t, h, "/"); w.Code != http.StatusNotFound {
			t.Errorf("above the path: %d", w.Code)
		}
	})
}

// followed looks at so many pages: each is well formed, has neither style attribute nor script of its own, and links to
// what is below the path.
func followed(t *testing.T, h http.Handler, base string, most int) {
	t.Helper()
	todo, seen := []string{base + "/"}, map[string]bool{base + "/": true}
	pages := 0
	for ; len(todo) > 0 && pages < most; todo = todo[1:] {
		pages++
		w := get(t, h, todo[0])
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", todo[0], w.Code, w.Body)
			continue
		}
		kind := w.Header().Get("Content-Type")
		if kind == "image/svg+xml" {
			wellFormed(t, todo[0], w.Body.Bytes())
		}
		if !strings.HasPrefix(kind, "text/html") {
			continue
		}
		harmless(t, todo[0], w)
		for _, m := range addresses.FindAllStringSubmatch(w.Body.String(), -1) {
			address := strings.ReplaceAll(m[1], "&amp;", "&")
			if address == "" || strings.HasPrefix(address, base+"/record/") && len(seen) > most {
				continue
			}
			if !strings.HasPrefix(address, base+"/") {
				t.Errorf("%s links to %q", todo[0], address)
			}
			if !seen[address] {
				seen[address] = true
				todo = append(todo, address)
			}
		}
	}
	t.Logf("%d pages of %d known", pages, len(seen))
	if pages < 20 {
		t.Errorf("only %d pages were found", pages)
	}
}

// tags are the elements of a page, and quotedValues the values of their attributes.
var (
	tags         = regexp.MustCompile(`<[a-zA-Z][^<>]*>`)
	quotedValues = regexp.MustCompile(`"[^"]*"`)
)

// harmless checks what no page may have, whatever is in the log.
func harmless(t *testing.T, address string, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	for _, tag := range tags.FindAllString(body, -1) {
		for _, bad := range []string{" style=", " on", "javascript:", "refresh"} {
			if strings.Contains(strings.ToLower(quotedValues.ReplaceAllString(tag, "")), bad) {
				t.Errorf("%s has the element %.200s", address, tag)
			}
		}
	}
	if strings.Contains(body, `="javascript:`) || strings.Contains(body, "ZgotmplZ") {
		t.Errorf("%s has an address that runs", address)
	}
	scripts := strings.Count(body, "<script")
	file := strings.Contains(address, "o=file")
	if want := map[bool]int{true: 0, false: 1}[file]; scripts != want {
		t.Errorf("%s has %d scripts, want %d", address, scripts, want)
	}
	for _, r := range body {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f) {
			t.Errorf("%s has the invisible character %U", address, r)
		}
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy of %s is %q", address, policy)
	}
}

func wellFormed(t *testing.T, address string, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s is not well formed: %v", address, err)
			return
		}
		if e, is := token.(xml.StartElement); is && (e.Name.Local == "script" || e.Name.Local == "foreignObject") {
			t.Errorf("%s has an element %s", address, e.Name.Local)
		}
	}
}

// TestWhatABrowserLoadsIsSmall: style and script are together 40 KB at most, compressed, and a page with them 60 KB.
func TestWhatABrowserLoadsIsSmall(t *testing.T) {
	h := site(t, "delegated")
	const address = "/job/bad-indexes/shards" // the largest of the sample
	document := get(t, h, address).Body
	sum, lines := 0, 0
	for _, m := range regexp.MustCompile(`"(/(?:style|script)-[^"]*)"`).FindAllStringSubmatch(document.String(), -1) {
		w := get(t, h, m[1], "Accept-Encoding", "gzip")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", m[1], w.Code)
		}
		if strings.HasSuffix(m[1], ".js") {
			lines = strings.Count(get(t, h, m[1]).Body.String(), "\n")
		}
		sum += w.Body.Len()
	}
	whole := sum + get(t, h, address, "Accept-Encoding", "gzip").Body.Len()
	t.Logf("style and script are %d bytes compressed, a page with them %d; the script has %d lines", sum, whole, lines)
	if sum == 0 || sum > 40<<10 || whole > 60<<10 || lines == 0 || lines > 700 {
		t.Errorf("style and script are %d bytes compressed, a page with them %d; the script has %d lines", sum, whole, lines)
	}
}

// TestABrowserGetsGzip: a client that takes gzip gets it, and the same document; parts and streams are never compressed.
func TestABrowserGetsGzip(t *testing.T) {
	h := site(t, "delegated")
	const address = "/job/backoff-limit/etl-orders?at=500"
	plain := get(t, h, address)
	packed := get(t, h, address, "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, plain.Body.Bytes()) || packed.Header().Get("ETag") != plain.Header().Get("ETag") {
		t.Errorf("%d bytes with tag %s compressed, %d with %s plain", len(text), packed.Header().Get("ETag"), plain.Body.Len(), plain.Header().Get("ETag"))
	}
	for name, w := range map[string]*httptest.ResponseRecorder{"compressed": packed, "plain": plain} {
		if vary := w.Header().Get("Vary"); vary != "Accept-Encoding" {
			t.Errorf("%s: Vary %q", name, vary)
		}
	}
	for takes, want := range map[string]string{
		"br, GZIP;q=0.5": "gzip", "deflate,gzip": "gzip", "gzip;q=0": "", "gzip; q=0.000, br": "", "br": "", "*": "", "": "",
	} {
		if is := get(t, h, address, "Accept-Encoding", takes).Header().Get("Content-Encoding"); is != want {
			t.Errorf("who takes %q gets %q, want %q", takes, is, want)
		}
	}
	part := get(t, h, address, "Accept-Encoding", "gzip", "Range", "bytes=0-1199")
	if part.Code != http.StatusPartialContent || part.Header().Get("Content-Encoding") != "" || !bytes.Equal(part.Body.Bytes(), plain.Body.Bytes()[:1200]) {
		t.Errorf("a part: %d, encoding %q, %d bytes", part.Code, part.Header().Get("Content-Encoding"), part.Body.Len())
	}
}

func TestAnswersOfRequests(t *testing.T) {
	h := site(t, "delegated")
	first := get(t, h, "/job/backoff-limit/etl-orders?at=500")
	tag := first.Header().Get("ETag")
	if again := get(t, h, "/job/backoff-limit/etl-orders?at=500", "If-None-Match", tag); tag == "" || again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("the same again: tag %q, %d with %d bytes", tag, again.Code, again.Body.Len())
	}
	if asOf := first.Header().Get("Jobledger-As-Of"); !strings.HasPrefix(asOf, "1386 2026-11-23T22:08:06") {
		t.Errorf("as of %q", asOf)
	}
	for address, want := range map[string]int{
		"/job/backoff-limit/none": 404, "/record/999999": 404, "/record/x": 400, "/job/backoff-limit/etl-orders?at=yesterday": 400,
		"/job/backoff-limit/etl-orders?o=pdf": 400, "/?since=never": 400, "/nothing": 404, "/find?q=" + strings.Repeat("a", 300): 400,
	} {
		if w := get(t, h, address); w.Code != want {
			t.Errorf("%s: %d, want %d: %s", address, w.Code, want, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a POST: %d", w.Code)
	}
}

func TestOneUser(t *testing.T) {
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") })
	h, address := page.OneUser(inner, "127.0.0.1:1234")
	ask := func(address, host, cookie string) *httptest.ResponseRecorder {
		headers := []string{}
		if cookie != "" {
			headers = append(headers, "Cookie", cookie)
		}
		r := httptest.NewRequest(http.MethodGet, address, nil)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := ask("/", "127.0.0.1:1234", ""); w.Code != http.StatusForbidden {
		t.Errorf("without the secret: %d", w.Code)
	}
	if w := ask("/?secret=WRONG", "127.0.0.1:1234", ""); w.Code != http.StatusForbidden {
		t.Errorf("with another secret: %d", w.Code)
	}
	if w := ask(address, "evil.example:1234", ""); w.Code != http.StatusForbidden {
		t.Errorf("through another name: %d", w.Code)
	}
	first := ask(address, "127.0.0.1:1234", "")
	cookie := first.Header().Get("Set-Cookie")
	if first.Code != http.StatusSeeOther || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Fatalf("with the secret: %d, cookie %q", first.Code, cookie)
	}
	if w := ask(address, "127.0.0.1:1234", ""); w.Code != http.StatusForbidden {
		t.Errorf("the secret once more, from another browser: %d", w.Code)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	if w := ask("/", "127.0.0.1:1234", cookie); w.Body.String() != "inside" {
		t.Errorf("with the cookie: %d %s", w.Code, w.Body)
	}
}
