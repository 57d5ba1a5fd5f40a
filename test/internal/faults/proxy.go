package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Kind is a kind of fault that the proxy causes.
type Kind string

// The faults that the proxy can cause.
const (
	LostBefore  Kind = "lost before its effect" // the connection ends, the call never reaches the server
	LostAfter   Kind = "lost after its effect"  // the connection ends instead of the answer
	TimedOut    Kind = "504 before its effect"  // the server gives up
	LateTimeout Kind = "504 after its effect"   // the server gives up, but the call takes effect
	TooMany     Kind = "429"                    // with Retry-After, no effect
	Failed      Kind = "500"                    // no effect
	// Config.Touch changes the object before the call, so that the client's version is old
	Touched Kind = "somebody else is faster"
	Cut     Kind = "watch cut" // a watch ends in the middle
)

// Rates has the probability of each kind of fault, for each write; for Cut, for each watch.
type Rates map[Kind]float64

// longestWatch is the longest time after which the proxy cuts a watch that it has chosen to cut.
const longestWatch = 20 * time.Second

// Config configures a Proxy.
type Config struct {
	// Upstream is how to reach the API server, as the user who makes the calls.
	Upstream *rest.Config
	Rates    Rates
	Seed     uint64
	// Touch changes the object at path, as another client does just before a write to it. If nil, the fault Touched
	// does not happen.
	Touch func(ctx context.Context, path string) error
	// Keep stores each write for Calls.
	Keep bool
}

// Proxy is a running proxy. Start creates it.
type Proxy struct {
	config   Config
	upstream http.RoundTripper
	forward  *httputil.ReverseProxy
	server   *http.Server
	host     string
	ended    chan struct{}
	calm     atomic.Bool

	mu     sync.Mutex
	rand   *rand.Rand
	counts map[Kind]int
	calls  []*kept
}

// Start starts a proxy on a loopback port. It runs until Stop.
func Start(config Config) (*Proxy, error) {
	upstream, err := rest.TransportFor(config.Upstream)
	if err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	target, err := url.Parse(config.Upstream.Host)
	if err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	p := &Proxy{
		config: config, upstream: upstream, host: "http://" + listener.Addr().String(), ended: make(chan struct{}),
		rand: rand.New(rand.NewPCG(config.Seed, 3)), counts: map[Kind]int{},
	}
	quiet := log.New(io.Discard, "", 0) // the proxy logs nothing: failures are intended, or the client sees them
	p.forward = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      upstream,
		FlushInterval:  -1, // send each part at once, because the events of a watch must not wait in a buffer
		ErrorLog:       quiet,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ModifyResponse: passedOn,
	}
	p.server = &http.Server{Handler: p, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	go func() { // this goroutine ends when Stop is called
		defer close(p.ended)
		_ = p.server.Serve(listener)
	}()
	return p, nil
}

// Client returns the client configuration for the controller, whose calls go through the proxy.
func (p *Proxy) Client() *rest.Config { return &rest.Config{Host: p.host} }

// Calm ends the faults: from now on all calls succeed.
func (p *Proxy) Calm() { p.calm.Store(true) }

// Counts returns how many faults of each kind there were.
func (p *Proxy) Counts() map[Kind]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// Stop ends the proxy and every connection through it.
func (p *Proxy) Stop() error {
	err := p.server.Close()
	<-p.ended
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("stop a proxy: %w", err)
	}
	return nil
}

// draw decides at random whether a call gets a fault, and which one. For Cut it also returns after what time the
// watch ends.
func (p *Proxy) draw(r *http.Request) (Kind, time.Duration) {
	if p.calm.Load() {
		return "", 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kinds := []Kind{LostBefore, LostAfter, TimedOut, LateTimeout, TooMany, Failed, Touched}
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		kinds = []Kind{Cut}
	case r.Method == http.MethodGet:
		kinds = []Kind{TooMany, Failed}
	case p.config.Touch == nil || r.Method != http.MethodPut:
		kinds = kinds[:len(kinds)-1]
	}
	left := p.rand.Float64()
	for _, k := range kinds {
		if left -= p.config.Rates[k]; left < 0 {
			p.counts[k]++
			return k, time.Duration(p.rand.Int64N(int64(longestWatch)))
		}
	}
	return "", 0
}

// ServeHTTP passes a call on, with or without a fault.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, after := p.draw(r)
	call, r, err := p.keep(r, kind)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	switch kind {
	case LostBefore:
		panic(http.ErrAbortHandler)
	case LostAfter, LateTimeout:
		p.effect(r, call)
		if kind == LostAfter {
			panic(http.ErrAbortHandler)
		}
		gatewayTimeout(w, call)
		return
	case TimedOut:
		gatewayTimeout(w, call)
		return
	case TooMany:
		call.told(http.StatusTooManyRequests)
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "the server has received too many requests")
		return
	case Failed:
		call.told(http.StatusInternalServerError)
		answer(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcdserver: leader changed")
		return
	case Touched:
		// An error means that the object is gone; then there is nothing to touch.
		_ = p.config.Touch(r.Context(), strings.TrimSuffix(r.URL.Path, "/status"))
	case Cut:
		ctx, cancel := context.WithTimeout(r.Context(), after)
		defer cancel()
		r = r.WithContext(ctx)
	}
	p.forward.ServeHTTP(w, r)
}

func gatewayTimeout(w http.ResponseWriter, call *kept) {
	call.told(http.StatusGatewayTimeout)
	answer(w, http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "request did not complete within the allotted timeout")
}

// effect sends a call to the API server, so that it takes effect, and drops the answer: the client must not get it.
func (p *Proxy) effect(r *http.Request, call *kept) {
	out := r.Clone(context.WithoutCancel(r.Context()))
	p.forward.Rewrite(&httputil.ProxyRequest{In: r, Out: out})
	out.RequestURI = ""
	response, err := p.upstream.RoundTrip(out)
	if err != nil {
		return // the call did not reach the server, so this fault is like one before the effect
	}
	call.answered(response.StatusCode)
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
}

// answer answers a call in place of the API server, with an error.
func answer(w http.ResponseWriter, code int, reason metav1.StatusReason, text string) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: text,
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status) // an error only says that the client is gone
}
