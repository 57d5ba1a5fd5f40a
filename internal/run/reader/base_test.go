package reader_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/run/reader"
)

// addresses are where a page leads, and what it loads.
var addresses = regexp.MustCompile(`(?:href|src|action)="([^"#]*)`)

// TestAllIsBelowTheBasePath follows every link of the pages of a reader below a path, to a bound: each leads to an
// answer below that path. The policy lets a page load its own style and script, no answer sets a cookie, and nothing is
// answered beside the path.
func TestAllIsBelowTheBasePath(t *testing.T) {
	const base = "/ledger"
	log, spaces := recorded(t)
	r := run(t, reader.Config{Client: cluster(spaces, "admin/", "ann/"+spaces[0]), Log: fixed{local: log}, Base: base})
	if !strings.HasSuffix(r.URL(), base) {
		t.Errorf("its address is %s", r.URL())
	}
	get := func(user, address string) reply { return as(t, r, user, strings.TrimPrefix(address, base)) }
	loads := map[string]bool{}
	crawl := func(user, first string, most int) {
		todo, seen := []string{first}, map[string]bool{first: true}
		for pages := 0; len(todo) > 0 && pages < most; todo = todo[1:] {
			got := get(user, todo[0])
			refused := user != "admin" && got.status == http.StatusForbidden // a link to what others may read
			if got.status != http.StatusOK && !refused || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%s asks %s: %d, cookie %q", user, todo[0], got.status, got.header.Get("Set-Cookie"))
			}
			if !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
				loads[got.header.Get("Content-Type")] = true
				continue
			}
			pages++
			if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'") {
				t.Errorf("%s has the policy %q", todo[0], policy)
			}
			for _, m := range addresses.FindAllStringSubmatch(got.body, -1) {
				address := html.UnescapeString(m[1])
				if address != "" && !strings.HasPrefix(address, base+"/") {
					t.Errorf("%s leads to %q", todo[0], address)
				}
				if address != "" && !seen[address] && (len(seen) < 2*most || !strings.Contains(address, "/record/")) {
					seen[address] = true
					todo = append(todo, address)
				}
			}
		}
		if len(seen) < 20 {
			t.Errorf("%s sees %d addresses", user, len(seen))
		}
	}
	crawl("admin", base+"/", 60)
	crawl("ann", base+"/?n="+url.QueryEscape(spaces[0]), 20)
	for _, kind := range []string{"text/css; charset=utf-8", "text/javascript; charset=utf-8"} {
		if !loads[kind] {
			t.Errorf("no page loads %s: %v", kind, loads)
		}
	}
	for _, address := range []string{"/v1/jobs", "/v1/log", "/v1/records?limit=1"} {
		if got := as(t, r, "admin", address); got.status != http.StatusOK {
			t.Errorf("%s%s: %d %s", base, address, got.status, got.body)
		}
	}
	beside := as(t, r, "admin", "/../")
	if beside.status == http.StatusOK {
		t.Errorf("beside the path: %d", beside.status)
	}
}

// TestRecordsAreReadWithinTheRights: the log itself, for commands: its head, records and streams. Who may read one
// namespace gets its records only.
func TestRecordsAreReadWithinTheRights(t *testing.T) {
	log, spaces := recorded(t)
	mine, other := spaces[0], spaces[1]
	r := run(t, reader.Config{Client: cluster(spaces, "admin/", "ann/"+mine), Log: fixed{local: log}})
	for _, row := range []struct {
		user, address string
		status        int
	}{
		{"admin", "/v1/log", http.StatusOK}, {"admin", "/v1/records", http.StatusOK},
		{"admin", "/v1/log?scope=" + other, http.StatusOK},
		{"ann", "/v1/log", http.StatusForbidden}, {"ann", "/v1/records", http.StatusForbidden},
		{"ann", "/v1/records?namespace=" + mine, http.StatusForbidden},
		{"ann", "/v1/log?scope=" + other, http.StatusForbidden}, {"ann", "/v1/records?scope=" + other, http.StatusForbidden},
		{"ann", "/v1/streams/" + other + "/x", http.StatusForbidden},
		{"ann", "/v1/log?scope=" + mine, http.StatusOK}, {"ann", "/v1/records?scope=" + mine, http.StatusOK},
		{"ann", "/v1/streams/" + mine + "/x", http.StatusOK}, {"ann", "/v1/streams/" + mine + "/x?scope=" + other, http.StatusOK},
		{"bob", "/v1/log?scope=" + mine, http.StatusForbidden}, {"", "/v1/log?scope=" + mine, http.StatusUnauthorized},
	} {
		got := as(t, r, row.user, row.address)
		if got.status != row.status {
			t.Errorf("%s asks %s: %d, want %d\n%.300s", row.user, row.address, got.status, row.status, got.body)
		}
		for _, space := range spaces[1:] {
			if row.user == "ann" && strings.Contains(space, "-") && !strings.Contains(mine, space) &&
				!strings.Contains(row.address, space) && strings.Contains(got.body, space) {
				t.Errorf("%s asks %s: the answer names %s", row.user, row.address, space)
			}
		}
		if limited := row.user == "ann" && row.status == http.StatusOK; limited != strings.Contains(got.notes(), "only records of namespace "+mine) {
			t.Errorf("%s asks %s: the notes are %q", row.user, row.address, got.notes())
		}
	}
}
