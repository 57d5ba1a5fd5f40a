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

// Remote is the pages of a reader, which this process shows to one user.
type Remote struct {
	Base      *url.URL          // of the pages
	Name      string            // of the reader, for messages
	Transport http.RoundTripper // it adds the user's credentials
}

// contact is the last that a reader gave.
type contact struct {
	mu   sync.Mutex
	at   time.Time // when; zero for never
	asOf string    // record and time, as in Jobledger-As-Of
}

// note notes an answer, or a part of one; asOf is empty for one that does not name its record.
func (c *contact) note(asOf string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at = time.Now(); asOf != "" {
		c.asOf = asOf
	}
}

// lost says since when a reader does not answer, and which record is the newest known.
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

// parts notes each part of an answer without an end.
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

// passed are the headers of a browser's request that a reader gets. It gets no cookie, and no credentials but those of
// Remote.Transport.
var passed = []string{"Accept", "Accept-Language", "If-None-Match", "Range", "User-Agent"}

// Proxy returns a handler with the pages of a reader, at the same paths as there. GET and HEAD are the only methods.
func Proxy(r Remote) http.Handler {
	base := strings.TrimSuffix(r.Base.Path, "/")
	last := &contact{}
	proxy := &httputil.ReverseProxy{
		Transport: r.Transport,
		ErrorLog:  log.New(io.Discard, "", 0), // the browser is told
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
			guard(answer.Header) // whatever answers there
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
