package reader

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/turns"
	"github.com/jobledger/jobledger/internal/wire/httpport"
	"github.com/jobledger/jobledger/internal/wire/identity"
)

// Config says which log is read, and how users reach the reader. Address, Client and Log are required. The reader
// serves only TLS, because clients send tokens.
type Config struct {
	Address string // host and port to listen on; port 0 for any free one
	// CertFile and KeyFile are read again when they change. If they are empty, New makes a certificate for the names
	// and addresses in Hosts.
	CertFile, KeyFile string
	Hosts             []string
	Base              string   // path prefix of all answers, such as /ledger; empty for the root
	Publish           *Publish // where to publish the reader's address; nil for nowhere
	Client            kubernetes.Interface
	Log               Log
	Where             string           // name of the log at the top of each page
	Logger            *slog.Logger     // nil for the default
	Clock             func() time.Time // of this machine; nil for time.Now
	Within            time.Duration    // time limit of an answer; 0 for 10 s
}

// Reader is the HTTPS server that answers users ('jobledger serve'). Make it with New.
type Reader struct {
	config Config
	who    *identity.Identity
	server *httpport.Server
	own    *httpport.Own // the generated certificate; nil if the certificate comes from files
	ends   chan struct{} // closed when Run ends; it ends the event streams of open pages
}

// The time limit for sending an answer, and how long a stop waits for answers in flight.
const (
	sentWithin = 20 * time.Second
	stopWithin = 5 * time.Second
)

// New opens the port. Requests wait until Run runs.
func New(c Config) (*Reader, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Within <= 0 {
		c.Within = serve.UsualWithin
	}
	r := &Reader{
		config: c, who: identity.New(identity.Config{Client: c.Client, Logger: c.Logger}), ends: make(chan struct{}),
	}
	secure, err := r.certificate()
	if err != nil {
		return nil, fmt.Errorf("serve readers: %w", err)
	}
	// The TLS server requests a client certificate, and package identity verifies it, because the CA may be renewed
	// while this process runs.
	secure.ClientAuth = tls.RequestClientCert
	r.server, err = httpport.Listen(httpport.Config{
		Address: c.Address, TLS: secure, Logger: c.Logger, Handler: r.Handler(), Answer: c.Within + sentWithin,
	})
	if err != nil {
		return nil, fmt.Errorf("serve readers: %w", err)
	}
	return r, nil
}

// certificate returns the TLS configuration of the server: with the certificate from files, or with a generated one.
func (r *Reader) certificate() (config *tls.Config, err error) {
	c := &r.config
	if c.CertFile != "" {
		return httpport.Certificate(c.CertFile, c.KeyFile, c.Logger)
	}
	if r.own, err = httpport.Made(c.Hosts); err != nil {
		return nil, err
	}
	return r.own.TLS, nil
}

// Pin returns the SHA-256 of a generated certificate's public key, in the format of curl's --pinnedpubkey; empty for a
// certificate from a file.
func (r *Reader) Pin() string {
	if r.own == nil {
		return ""
	}
	return r.own.Pin
}

// Authority returns the CA, in PEM, with which clients check the reader's certificate. For a certificate from a file,
// it reads the file again.
func (r *Reader) Authority() ([]byte, error) {
	if r.own == nil {
		return httpport.Authority(r.config.CertFile)
	}
	return r.own.Authority, nil
}

// URL returns the address of the reader, with its base path.
func (r *Reader) URL() string { return r.server.URL() + r.config.Base }

// Run answers requests until ctx ends, and then returns nil.
func (r *Reader) Run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { r.who.Run(ctx); return nil })
	all.Go(func() error { return r.config.Log.Run(ctx) })
	all.Go(r.server.Run) // ends when Shutdown is called
	all.Go(func() error { return r.publish(ctx) })
	all.Go(func() error {
		<-ctx.Done()
		close(r.ends)
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		return r.server.Shutdown(bound)
	})
	return all.Wait()
}

// Handler returns the HTTP handler of all questions and pages. It refuses requests without an identity.
func (r *Reader) Handler() http.Handler {
	shared := turns.New(turns.Config{})
	user := func(q *http.Request) string { return userOf(q.Context()).Key() }
	records := http.NewServeMux()
	questions := serve.Asking{Source: r.question, Turns: shared, User: user, Within: r.config.Within}
	questions.Handle(records, ask.All())
	questions.HandleRecords(records)
	records.HandleFunc("GET /v1/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, errors.New("there is no such question"), true)
	})
	mux, base := http.NewServeMux(), r.config.Base
	mux.Handle(base+"/v1/", http.StripPrefix(base, records))
	mux.Handle(base+"/", page.New(page.Config{
		Source: r.page, Where: r.config.Where, Base: base, Turns: shared, User: user, Within: r.config.Within,
		Clock: r.config.Clock, Ends: r.ends,
	}))
	if base != "" {
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusNotFound, errors.New("all is below "+base+"/"), false)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		user, err := r.who.User(q)
		if err != nil {
			refuse(w, statusOf(err), err, strings.HasPrefix(q.URL.Path, base+"/v1/"))
			return
		}
		mux.ServeHTTP(w, q.WithContext(context.WithValue(q.Context(), userKey{}, user)))
	})
}

// userKey is the context key under which a request's identity.User is stored.
type userKey struct{}

func userOf(ctx context.Context) identity.User {
	user, _ := ctx.Value(userKey{}).(identity.User) // Handler refuses requests without a user
	return user
}

// statusOf returns the HTTP status with which an error of package identity is answered.
func statusOf(err error) int {
	var refused *identity.RefusedError
	if errors.As(err, &refused) {
		return refused.HTTPStatus()
	}
	return http.StatusInternalServerError
}

// refuse answers a request with an error, in JSON or as text.
func refuse(w http.ResponseWriter, status int, err error, inJSON bool) {
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "2")
	}
	kind, text := "text/plain; charset=utf-8", []byte(err.Error())
	if inJSON {
		kind = "application/json"
		text, _ = json.Marshal(map[string]string{"error": err.Error()}) // cannot fail: a map of strings
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // an error means that the client is gone
}
