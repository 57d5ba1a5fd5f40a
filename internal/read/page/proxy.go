package page

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// Remote is the pages of a reader, which this process shows to one user.
type Remote struct {
	Base      *url.URL          // of the pages
	Name      string            // of the reader, for messages
	Transport http.RoundTripper // it adds the user's credentials
}

// passed are the headers of a browser's request that a reader gets. It gets no cookie, and no credentials but those of
// Remote.Transport.
var passed = []string{"Accept", "Accept-Language", "If-None-Match", "Range", "User-Agent"}

// Proxy returns a handler with the pages of a reader, at the same paths as there. GET and HEAD are the only methods.
func Proxy(r Remote) http.Handler {
	base := strings.TrimSuffix(r.Base.Path, "/")
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
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, fmt.Sprintf("the reader %s does not answer: %v", r.Name, err), http.StatusBadGateway)
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
