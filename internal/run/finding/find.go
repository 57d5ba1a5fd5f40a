package finding

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"

	"github.com/jobledger/jobledger/internal/read/serve"
)

// Config says which reader to find, and for which user. Loader is required.
type Config struct {
	Loader    clientcmd.ClientConfig // the user's kubeconfig, with its context
	Namespace string                 // namespace of the reader; empty for the constant Namespace
	UserAgent string
}

// Time limits of connections to the reader.
const (
	findWithin = 20 * time.Second // for reading the Entry, opening a port-forward and the handshake together
	idleFor    = 30 * time.Second // how long an idle connection is kept; the reader keeps it longer
)

// ErrNoKubeconfig is returned if there is no kubeconfig, and this process does not run in a pod.
var ErrNoKubeconfig = errors.New("there is no kubeconfig")

// finder opens the connections to a reader ('jobledger serve'), and remembers how they succeeded.
type finder struct {
	Config
	rest   *rest.Config
	client kubernetes.Interface
	user   *tls.Config // has the user's client certificate; nil for none

	mu    sync.Mutex
	way   *way
	ready net.Conn // the connection that Find has opened, for the first request
}

// way is how the reader is reached now: by the address for users, or by a port-forward.
type way struct {
	entry   Entry
	tls     *tls.Config
	forward *forward // nil if the reader has an address for users
}

// Find returns a client for the reader of the cluster ('jobledger serve'). It makes a connection first. Its errors say
// what is missing, and who can provide it.
func Find(ctx context.Context, c Config) (*serve.Reader, error) {
	f, wrap, err := newFinder(c)
	if err != nil {
		return nil, err
	}
	if f.ready, err = f.connect(ctx, "", ""); err != nil {
		f.close()
		return nil, err
	}
	requests := &http.Transport{DialTLSContext: f.connect, IdleConnTimeout: idleFor, MaxIdleConnsPerHost: 4}
	checked, err := wrap(requests)
	if err != nil {
		f.close()
		return nil, err
	}
	base, name := &url.URL{Scheme: "https", Host: f.serverName(), Path: f.way.entry.Base}, f.Namespace+"/"+f.way.entry.Pod
	if address := f.way.entry.Address; address != nil {
		base, name = address, "at "+address.Host
	}
	return &serve.Reader{Base: base, Name: name, Transport: checked, Close: func() {
		requests.CloseIdleConnections()
		f.close()
	}}, nil
}

// newFinder returns a finder, and a function that adds the user's credentials to the requests of a transport.
func newFinder(c Config) (*finder, func(http.RoundTripper) (http.RoundTripper, error), error) {
	if c.Namespace == "" {
		c.Namespace = Namespace
	}
	config, err := c.Loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, nil, ErrNoKubeconfig
	}
	if err != nil {
		return nil, nil, fmt.Errorf("find the cluster: %w", err)
	}
	if err := believed(config); err != nil {
		return nil, nil, err
	}
	config.UserAgent = c.UserAgent
	f := &finder{Config: c, rest: config}
	if f.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, nil, fmt.Errorf("make a client of %s: %w", config.Host, err)
	}
	of, err := config.TransportConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("read the credentials of the kubeconfig: %w", err)
	}
	if f.user, err = transport.TLSConfigFor(of); err != nil {
		return nil, nil, fmt.Errorf("read the credentials of the kubeconfig: %w", err)
	}
	return f, func(next http.RoundTripper) (http.RoundTripper, error) {
		return transport.HTTPWrappersForConfig(of, next)
	}, nil
}

// connect opens a connection to the reader, and checks its certificate. If that fails, it reads the ConfigMap again,
// because a restarted reader has another pod and CA.
func (f *finder) connect(ctx context.Context, _, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	if conn := f.ready; conn != nil {
		f.ready = nil
		return conn, nil
	}
	if f.way != nil {
		if conn, err := f.dial(ctx); err == nil || ctx.Err() != nil {
			return conn, err
		}
		f.leave()
	}
	if err := f.look(ctx); err != nil {
		return nil, err
	}
	conn, err := f.dial(ctx)
	if err != nil {
		f.leave()
	}
	return conn, err
}

// look reads from the ConfigMap how the reader is reached, and opens the port-forward if one is needed. The caller
// holds the lock.
func (f *finder) look(ctx context.Context) error {
	found, err := f.client.CoreV1().ConfigMaps(f.Namespace).Get(ctx, Name, metav1.GetOptions{})
	if err != nil {
		return f.noEntry(err)
	}
	entry, err := parse(found.Data)
	if err != nil {
		return fmt.Errorf("the ConfigMap %s in namespace %s: %w", Name, f.Namespace, err)
	}
	w := &way{entry: entry}
	f.way = w
	if w.tls, err = f.checking(); err != nil || entry.Address != nil {
		return f.left(err)
	}
	if err := f.podState(ctx, entry.Pod); err != nil {
		return f.left(err)
	}
	at := f.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(f.Namespace).Name(entry.Pod).
		SubResource("portforward").URL()
	if w.forward, err = openForward(ctx, f.rest, at, entry.Port); err != nil {
		return f.left(f.notForwarded(entry.Pod, err))
	}
	return nil
}

// left returns err. If err is not nil, left also forgets how the reader was reached, so that the next connection reads
// the ConfigMap again.
func (f *finder) left(err error) error {
	if err != nil {
		f.leave()
	}
	return err
}

// leave forgets how the reader was reached, and closes the port-forward. The caller holds the lock.
func (f *finder) leave() {
	if f.way != nil && f.way.forward != nil {
		_ = f.way.forward.connection.Close() // an error means that it is gone already
	}
	f.way = nil
}

func (f *finder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ready != nil {
		_ = f.ready.Close()
	}
	f.ready = nil
	f.leave()
}

// serverName returns the name that the certificate must have.
func (f *finder) serverName() string {
	if f.way.entry.Address != nil {
		return f.way.entry.Address.Hostname()
	}
	service := f.way.entry.Service
	if service == "" {
		service = Name
	}
	return service + "." + f.Namespace + ".svc"
}

// checking returns the TLS configuration for connections to the reader. It checks the reader's certificate, and sends
// the user's client certificate, if there is one.
func (f *finder) checking() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.serverName(), NextProtos: []string{"http/1.1"}}
	if f.user != nil {
		config.Certificates, config.GetClientCertificate = f.user.Certificates, f.user.GetClientCertificate
	}
	text := f.way.entry.CA
	if f.way.entry.Address != nil && f.way.entry.AddressCA != "" {
		text = f.way.entry.AddressCA
	}
	if text == systemCA {
		return config, nil
	}
	if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM([]byte(text)) {
		return nil, fmt.Errorf("the ConfigMap %s in namespace %s has no certificate of a CA", Name, f.Namespace)
	}
	return config, nil
}

// dial opens a connection to the address for users, or through the port-forward. The caller holds the lock.
func (f *finder) dial(ctx context.Context) (conn net.Conn, err error) {
	w := f.way
	switch {
	case w.forward == nil:
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(w.entry.Address))
	case w.forward.gone():
		err = errors.New("the port-forward has ended")
	default:
		conn, err = w.forward.dial()
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the reader: %w", err)
	}
	secure := tls.Client(conn, w.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, f.notChecked(err)
	}
	return secure, nil
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}
