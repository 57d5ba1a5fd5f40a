package page_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/page"
)

// withToken adds a user's token, as the transport of a kubeconfig does.
type withToken struct{}

func (withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer of-ann")
	return http.DefaultTransport.RoundTrip(r)
}

// TestThePagesOfAReaderForOneUser: the reader gets the user's token, and of the browser neither cookies nor what it
// says of itself and others. The browser gets the page under our policy, whatever the reader says, and no cookie.
func TestThePagesOfAReaderForOneUser(t *testing.T) {
	for _, base := range []string{"", "/ledger"} {
		var seen *http.Request
		reader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = r
			w.Header().Set("Set-Cookie", "a=b")
			w.Header().Set("Content-Security-Policy", "default-src *")
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Jobledger-As-Of", "384 2026-03-27T22:14:05Z")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "you may not")
		}))
		t.Cleanup(reader.Close)
		at, err := url.Parse(reader.URL + base)
		if err != nil {
			t.Fatal(err)
		}
		h := page.Proxy(page.Remote{Base: at, Name: "here", Transport: withToken{}})
		never := page.Proxy(page.Remote{Base: at, Name: "here", Transport: withToken{}})
		w := get(t, h, base+"/job/a/b?at=7", "Cookie", "jobledger-ui-80=secret", "Authorization", "Bearer of-the-browser",
			"X-Forwarded-User", "admin", "Impersonate-User", "admin", "If-None-Match", `"1"`, "Connection", "X-Remote-User", "X-Remote-User", "admin")
		if w.Code != http.StatusForbidden || w.Body.String() != "you may not" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if seen.RequestURI != base+"/job/a/b?at=7" || seen.Header.Get("Authorization") != "Bearer of-ann" || seen.Host != at.Host {
			t.Errorf("the reader is asked %s at %s with %v", seen.RequestURI, seen.Host, seen.Header)
		}
		for _, name := range []string{"Cookie", "X-Forwarded-User", "X-Forwarded-For", "Impersonate-User", "X-Remote-User"} {
			if seen.Header.Get(name) != "" {
				t.Errorf("the reader gets %s: %s", name, seen.Header.Get(name))
			}
		}
		if seen.Header.Get("If-None-Match") != `"1"` || w.Header().Get("ETag") != `"1"` {
			t.Error("the tag of a page is lost")
		}
		policy := w.Header().Values("Content-Security-Policy")
		if len(policy) != 1 || !strings.Contains(policy[0], "default-src 'none'") || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("the browser gets %v", w.Header())
		}
		if w := get(t, h, "/"); base != "" && (w.Code != http.StatusSeeOther || w.Header().Get("Location") != base+"/") {
			t.Errorf("the first page: %d to %s", w.Code, w.Header().Get("Location"))
		}
		if w := get(t, h, "/other"); base != "" && w.Code != http.StatusNotFound {
			t.Errorf("beside the path: %d", w.Code)
		}
		reader.Close()
		for _, row := range []struct {
			h    http.Handler
			says []string
		}{
			{h, []string{"it has not answered since 2", "the newest record that is known is 384 of 2026-03-27T22:14:05Z"}},
			{never, []string{"it has not answered since this command started, so no record is known"}},
		} {
			for _, part := range append(row.says, "the reader here does not answer") {
				if w := get(t, row.h, base+"/"); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), part) {
					t.Errorf("without the reader: %d %s, want %q", w.Code, w.Body, part)
				}
			}
		}
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest(http.MethodPost, base+"/", strings.NewReader("a")))
		if r.Code != http.StatusMethodNotAllowed {
			t.Errorf("a write: %d", r.Code)
		}
	}
}
