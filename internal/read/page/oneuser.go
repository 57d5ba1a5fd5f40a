package page

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"sync"
)

// The name of the cookie and of the parameter of the first address; the port is part of the first, as cookies do not
// tell ports apart.
const (
	cookieName  = "jobledger-ui-"
	secretParam = "secret"
)

// oneUser lets the browser in that came with the secret, which is good once.
type oneUser struct {
	next   http.Handler
	host   string // host and port
	cookie string

	mu   sync.Mutex
	once string // the secret; empty once it was used
	kept string // what the cookie holds
}

// OneUser answers requests of one person on a loopback address, and says which address is to be opened first: it has a
// secret that is good once. The browser gets another one in a cookie, which no script reads and no other site sends.
// Requests that name another host are refused, so that no name that somebody points here reads along.
func OneUser(next http.Handler, host string) (handler http.Handler, address string) {
	_, port, _ := net.SplitHostPort(host)
	u := &oneUser{next: next, host: host, cookie: cookieName + port, once: rand.Text(), kept: rand.Text()}
	return u, "http://" + host + "/?" + secretParam + "=" + u.once
}

// ServeHTTP lets in who has the cookie, or the secret.
func (u *oneUser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Host, u.host) {
		http.Error(w, "this address is not "+u.host, http.StatusForbidden)
		return
	}
	values := r.URL.Query()
	if secret := values.Get(secretParam); secret != "" && r.Method == http.MethodGet {
		if !u.spend(secret) && !u.known(r) {
			http.Error(w, "this address was opened before, and is good once: start 'jobledger ui' again", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: u.cookie, Value: u.kept, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		w.Header().Set("Referrer-Policy", "no-referrer")
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if !u.known(r) {
		http.Error(w, "open the address that 'jobledger ui' wrote: it has the secret for this browser", http.StatusForbidden)
		return
	}
	u.next.ServeHTTP(w, r)
}

// spend reports whether that is the secret, which is used up then.
func (u *oneUser) spend(secret string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.once == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(u.once)) != 1 {
		return false
	}
	u.once = ""
	return true
}

// known reports whether a request has the cookie.
func (u *oneUser) known(r *http.Request) bool {
	for _, c := range r.CookiesNamed(u.cookie) {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(u.kept)) == 1 {
			return true
		}
	}
	return false
}
