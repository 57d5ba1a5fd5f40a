package page

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Remote is a reader (jobledger serve, a process that answers many users) from which Proxy gets the pages for one user.
type Remote struct {
	Base      *url.URL          // URL of the reader's pages
	Name      string            // name of the reader in messages
	Transport http.RoundTripper // sends requests, with the user's credentials
}

// contact remembers when the reader last answered, so that an error can say since when it is silent.
type contact struct {
	mu   sync.Mutex
	at   time.Time // when the reader last answered; zero if it never did
	asOf string    // record and time that the newest page shows, from its header Jobledger-As-Of
}

// note records that the reader just sent an answer, or a part of one. asOf is the record that the answer shows; empty
// if the answer names none.
func (c *contact) note(asOf string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at = time.Now(); asOf != "" {
		c.asOf = asOf
	}
}

// lost returns a text that says since when the reader has not answered, and which record is the newest known one.
func (c *contact) lost() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	record, at, known := strings.Cut(c.asOf, " ")
	switch zone := (words.Zone{}); {
	case c.at.IsZero():
		return "it has not answered since this command started, so no record is known"
	case !known:
		return "it has not answered since " + zone.Second(events.At(c.at))
	default:
		return fmt.Sprintf("it has not answered since %s; the newest record that is known is %s of %s",
			zone.Second(events.At(c.at)), words.Clean(record), words.Clean(at))
	}
}

// parts is the body of an answer without end (server-sent events). Each time bytes arrive, it notes that the reader
// answers.
type parts struct {
	io.ReadCloser
	from *contact
}

func (p parts) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if n > 0 {
		p.from.note("")
	}
	return n, err
}

// passed lists the headers of the browser's request that go to the reader. Cookies are not passed on, and the only
// credentials are those that Remote.Transport adds.
var passed = []string{"Accept", "Accept-Language", "If-None-Match", "Range", "User-Agent"}

// Proxy returns a handler that gets each page from a reader, under the same path. It answers GET and HEAD only.
func Proxy(r Remote) http.Handler {
	base := strings.TrimSuffix(r.Base.Path, "/")
	last := &contact{}
	proxy := &httputil.ReverseProxy{
		Transport: r.Transport,
		ErrorLog:  log.New(io.Discard, "", 0), // discard: the browser shows the error already
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = r.Base.Scheme, r.Base.Host, r.Base.Host
			headers := http.Header{}
			for _, name := range passed {
				if values := p.In.Header.Values(name); len(values) > 0 {
					headers[name] = values
				}
			}
			p.Out.Header = headers
		},
		ModifyResponse: func(answer *http.Response) error {
			answer.Header.Del("Set-Cookie")
			guard(answer.Header) // another server than a reader may answer: add the security headers in any case
			last.note(answer.Header.Get("Jobledger-As-Of"))
			if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
				answer.Body = parts{answer.Body, last}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, fmt.Sprintf("the reader %s does not answer: %s (%v)", r.Name, last.lost(), err), http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.Method != http.MethodGet && q.Method != http.MethodHead:
			http.Error(w, "pages are read with GET", http.StatusMethodNotAllowed)
		case base != "" && q.URL.Path == "/":
			http.Redirect(w, q, base+"/", http.StatusSeeOther)
		case !strings.HasPrefix(q.URL.Path, base+"/"):
			http.Error(w, "there is no such page", http.StatusNotFound)
		default:
			proxy.ServeHTTP(w, q)
		}
	})
}
