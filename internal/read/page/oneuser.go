package page

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Name of the cookie, and of the parameter in the first address. The port is added to the cookie's name, because
// cookies do not distinguish ports.
const (
	cookieName  = "jobledger-ui-"
	secretParam = "secret"
)

// oneUser admits requests of one browser only: the browser that presented the secret of the first address. The secret
// works once.
type oneUser struct {
	next   http.Handler
	host   string // the only Host header that is accepted: host and port
	cookie string

	mu   sync.Mutex
	once string // the secret of the first address; empty after its use
	kept string // the secret in the cookie of the admitted browser
}

// OneUser wraps a handler on a loopback address for one user. It returns the address that the user must open first:
// this contains a secret that works once. The browser then gets another secret in a cookie that no script can read and
// no other site can send. Requests with another Host header are refused, against DNS rebinding.
func OneUser(next http.Handler, host string) (handler http.Handler, address string) {
	_, port, _ := net.SplitHostPort(host)
	u := &oneUser{next: next, host: host, cookie: cookieName + port, once: rand.Text(), kept: rand.Text()}
	return u, "http://" + host + "/?" + secretParam + "=" + u.once
}

// ServeHTTP passes on a request that has the cookie, exchanges the secret for the cookie, and refuses all else.
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

// spend reports whether secret is right and unused, and marks it as used.
func (u *oneUser) spend(secret string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.once == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(u.once)) != 1 {
		return false
	}
	u.once = ""
	return true
}

// known reports whether a request has the right cookie.
func (u *oneUser) known(r *http.Request) bool {
	for _, c := range r.CookiesNamed(u.cookie) {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(u.kept)) == 1 {
			return true
		}
	}
	return false
}
