package controller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/jobledger/jobledger/internal/wire/coalesce"
)

// Cluster is the connection to the API server, with the clients that a run uses.
type Cluster struct {
	Client kubernetes.Interface
	host   string
	clock  *serverClock
	plain  *rest.Config // config without a transport, from which further connections are made
	config *rest.Config

	transport http.RoundTripper // shared by all clients except those of Acting
}

// Timeouts of connections, with the same values as in client-go.
const (
	dialTimeout = 30 * time.Second
	keepAlive   = 30 * time.Second
)

// Connect finds the cluster and makes a client for it, with the user agent "jobledger/VERSION". It sends no request
// yet.
func Connect(loader clientcmd.ClientConfig, version string) (*Cluster, error) {
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster to talk to: name one with --kubeconfig or $KUBECONFIG, or run inside one")
	}
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.UserAgent = "jobledger/" + version
	// No rate limit in client-go: the executor adapts its rate to what the server accepts, and a fixed limit would
	// disturb this.
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	clock := &serverClock{}
	k := &Cluster{host: config.Host, clock: clock, plain: rest.CopyConfig(config)}
	if k.transport, err = k.connection(config, nil); err != nil {
		return nil, err
	}
	k.config = config
	if k.Client, err = k.Patient(0); err != nil {
		return nil, err
	}
	return k, nil
}

// connection returns a transport for config with a TCP connection of its own; config must not have a transport yet. If
// may is not nil, it is called before each write to the connection, and nothing is written when it returns false.
func (k *Cluster) connection(config *rest.Config, may func() bool) (http.RoundTripper, error) {
	traffic := &coalesce.Traffic{May: may}
	config.Dial = traffic.Dial((&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return traffic.Count(k.clock.noting(next)) })
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", k.host, err)
	}
	return transport, nil
}

// Acting returns a client with a connection of its own. When may returns false, nothing is written: the connection is
// reset, and the next request opens a new one. The watches and the Lease use another connection, which stays open.
func (k *Cluster) Acting(may func() bool) (kubernetes.Interface, error) {
	config := rest.CopyConfig(k.plain)
	transport, err := k.connection(config, may)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfigAndClient(config, &http.Client{Transport: transport})
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", k.host, err)
	}
	return client, nil
}

// Patient returns a client whose requests end after timeout (0 for never), so that a request without an answer does not
// block later ones. It uses the connection that most clients share.
func (k *Cluster) Patient(timeout time.Duration) (kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfigAndClient(k.config, &http.Client{Transport: k.transport, Timeout: timeout})
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", k.host, err)
	}
	return client, nil
}

// Dynamic returns a client for objects of any kind.
func (k *Cluster) Dynamic() (dynamic.Interface, error) {
	client, err := dynamic.NewForConfigAndClient(k.config, &http.Client{Transport: k.transport})
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", k.host, err)
	}
	return client, nil
}

// Token returns the bearer token with which this process authenticates to the API server.
func (k *Cluster) Token() (string, error) {
	switch {
	case k.plain.BearerTokenFile != "":
		text, err := os.ReadFile(k.plain.BearerTokenFile)
		return strings.TrimSpace(string(text)), err
	case k.plain.BearerToken != "":
		return k.plain.BearerToken, nil
	}
	return "", errors.New("these credentials have none (a certificate is none)")
}

// version returns the API server's version. Callers also use it to check that the server can be reached.
func (k *Cluster) version(ctx context.Context) (string, error) {
	type answer struct {
		version string
		err     error
	}
	got := make(chan answer, 1)
	go func() { // ends when the request ends, which has its own timeout
		v, err := k.Client.Discovery().ServerVersion()
		if err != nil {
			got <- answer{err: err}
			return
		}
		got <- answer{version: v.GitVersion}
	}()
	select {
	case a := <-got:
		return a.version, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// ServerTime returns the time of the API server's clock, estimated from its newest answer to within a second or two; ok
// is false before the first answer.
func (k *Cluster) ServerTime() (t time.Time, ok bool) { return k.clock.since(time.Time{}) }

// time sends a request to learn the time of the API server's clock, to within a second or two; ok is false if the
// server does not answer within 5 seconds.
func (k *Cluster) time(ctx context.Context) (t time.Time, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	before := time.Now()
	if _, err := k.version(ctx); err != nil {
		return time.Time{}, false
	}
	return k.clock.since(before)
}

// askTimeout bounds requests whose answer the controller can do without.
const askTimeout = 5 * time.Second

// serverClock notes the Date header of the API server's answers. It is safe for concurrent use.
type serverClock struct{ newest atomic.Pointer[sighting] }

// sighting is one answer of the API server: its clock's time (there), and the local time at which the answer arrived
// (here).
type sighting struct {
	here, there time.Time
	text        string // the header's text, from which there was parsed
}

// noting returns a transport that passes requests to next and notes the Date of their answers.
func (c *serverClock) noting(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil {
			c.note(resp.Header.Get("Date"))
		}
		return resp, err
	})
}

// note stores the Date header of an answer. Most answers repeat the previous header, which is then not parsed again.
func (c *serverClock) note(date string) {
	if s := c.newest.Load(); s != nil && s.text == date {
		c.newest.Store(&sighting{here: time.Now(), there: s.there, text: date})
	} else if there, err := http.ParseTime(date); err == nil {
		c.newest.Store(&sighting{here: time.Now(), there: there, text: date})
	}
}

// since returns what time it is now by the API server's clock, computed from an answer that came after then. It returns
// false if there is no such answer.
func (c *serverClock) since(then time.Time) (time.Time, bool) {
	s := c.newest.Load()
	if s == nil || s.here.Before(then) {
		return time.Time{}, false
	}
	return s.there.Add(time.Since(s.here)), true
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
