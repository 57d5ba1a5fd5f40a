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

// oneUser admits requests of one browser only: the browser that first opened an address with the right secret. The
// secret works once; after that, the browser proves itself with a cookie.
type oneUser struct {
	next   http.Handler
	host   string // the only host and port that a Host header may name
	cookie string

	mu   sync.Mutex
	once string // the secret of the first address; empty after its use
	kept string // the secret in the cookie of the admitted browser
}

// OneUser wraps a handler on a loopback address, for one user. address is what the user must open first: it has a
// secret that works once. The browser then gets another secret, in a cookie that no script can read and no other site
// can send. OneUser refuses requests with another Host header, against DNS rebinding.
func OneUser(next http.Handler, host string) (handler http.Handler, address string) {
	_, port, _ := net.SplitHostPort(host)
	u := &oneUser{next: next, host: host, cookie: cookieName + port, once: rand.Text(), kept: rand.Text()}
	return u, "http://" + host + "/?" + secretParam + "=" + u.once
}

// ServeHTTP passes on a request that has the right cookie. It exchanges the secret of the first address for the cookie,
// and refuses all other requests.
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

// spend reports whether secret is right and was not used yet. It marks the secret as used.
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
