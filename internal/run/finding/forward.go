package finding

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream" //nolint:staticcheck // client-go's port-forward returns its connections
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// forward is a port-forward to a pod, which carries many connections.
type forward struct {
	connection httpstream.Connection
	port       int
	requests   atomic.Int64 // number of connections so far; each is a pair of streams with its number as ID
}

// openForward opens a port-forward at a URL of the API server. It tries SPDY, for which the right to create
// pods/portforward is needed. If a proxy in between does not allow SPDY, it tries WebSocket, which also needs the right
// to get pods/portforward.
func openForward(ctx context.Context, config *rest.Config, at *url.URL, port int) (*forward, error) {
	connection, status, err := openSPDY(ctx, config, at)
	if err != nil && status != http.StatusForbidden && status != http.StatusUnauthorized && ctx.Err() == nil {
		dialer, failed := portforward.NewSPDYOverWebsocketDialer(at, config)
		if failed == nil {
			connection, _, failed = dialer.Dial(portforward.PortForwardProtocolV1Name)
		}
		if failed == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, &forwardError{status: status, cause: err}
	}
	return &forward{connection: connection, port: port}, nil
}

// openSPDY opens a connection that can carry many streams. status is the HTTP status of the API server's answer; 0 for
// no answer.
func openSPDY(ctx context.Context, config *rest.Config, at *url.URL) (c httpstream.Connection, status int, err error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set(httpstream.HeaderProtocolVersion, portforward.PortForwardProtocolV1Name)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	c, err = upgrader.NewConnection(resp)
	return c, resp.StatusCode, err
}

// forwardError says that the API server did not open a port-forward, and why.
type forwardError struct {
	status int // HTTP status of the answer; 0 for no answer
	cause  error
}

func (e *forwardError) Error() string { return "open a port-forward: " + e.cause.Error() }
func (e *forwardError) Unwrap() error { return e.cause }

// gone reports whether the port-forward has ended.
func (f *forward) gone() bool {
	select {
	case <-f.connection.CloseChan():
		return true
	default:
		return false
	}
}

// dial opens a connection to the port in the pod. It consists of a stream for the data, and one on which the kubelet
// reports errors.
func (f *forward) dial() (net.Conn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(f.port))
	headers.Set(corev1.PortForwardRequestIDHeader, strconv.FormatInt(f.requests.Add(1), 10))
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	errs, err := f.connection.CreateStream(headers)
	if err != nil {
		return nil, fmt.Errorf("open a connection through the port-forward: %w", err)
	}
	_ = errs.Close() // this side writes nothing to the stream of errors
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := f.connection.CreateStream(headers)
	if err != nil {
		f.connection.RemoveStreams(errs)
		return nil, fmt.Errorf("open a connection through the port-forward: %w", err)
	}
	c := &streamed{Stream: data, forward: f, errs: errs, said: make(chan struct{})}
	go c.listen() // ends when the stream of errors ends
	return c, nil
}

// streamed is a connection (net.Conn) through a port-forward.
type streamed struct {
	httpstream.Stream
	forward *forward
	errs    httpstream.Stream
	said    chan struct{} // closed when the kubelet has ended its stream of errors
	error   error         // the kubelet's error; set before said is closed
	close   sync.Once
}

// mostSaid limits how many bytes of the kubelet's error are read.
const mostSaid = 4 << 10

// listen reads the kubelet's error, if there is one. After an error it ends the data stream, because the kubelet may
// leave it open.
func (c *streamed) listen() {
	text, _ := io.ReadAll(io.LimitReader(c.errs, mostSaid)) // the end of the stream is no error
	if len(text) > 0 {
		c.error = fmt.Errorf("the kubelet says: %s", text)
	}
	close(c.said)
	if len(text) > 0 {
		_ = c.Reset()
	}
}

// saysWithin is how long Read waits for the kubelet's error after the data stream has ended.
const saysWithin = time.Second

// Read reads from the connection. At its end it returns the kubelet's error, if there is one.
func (c *streamed) Read(b []byte) (int, error) {
	n, err := c.Stream.Read(b)
	if n > 0 || err == nil {
		return n, err
	}
	wait := time.NewTimer(saysWithin)
	defer wait.Stop()
	select {
	case <-c.said:
		if c.error != nil {
			return 0, c.error
		}
	case <-wait.C:
	}
	return 0, err
}

// Close ends this connection. The port-forward stays open.
func (c *streamed) Close() error {
	c.close.Do(func() {
		_ = c.Reset() // an error means that the stream has ended already
		_ = c.errs.Reset()
		c.forward.connection.RemoveStreams(c.Stream, c.errs)
	})
	return nil
}

// These methods make streamed a net.Conn. A stream has no addresses and no deadlines, which net/http and crypto/tls do
// not need here: they end a request by closing the connection.

func (*streamed) LocalAddr() net.Addr              { return streamAddress{} }
func (*streamed) RemoteAddr() net.Addr             { return streamAddress{} }
func (*streamed) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (*streamed) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (*streamed) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

type streamAddress struct{}

func (streamAddress) Network() string { return "portforward" }
func (streamAddress) String() string  { return "port-forward" }

// podState returns nil if the pod runs, and otherwise an error that says in which state it is.
func (f *finder) podState(ctx context.Context, pod string) error {
	found, err := f.client.CoreV1().Pods(f.Namespace).Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return f.noPod(pod, err)
	}
	if found.DeletionTimestamp == nil && found.Status.Phase == corev1.PodRunning {
		return nil
	}
	state := string(found.Status.Phase)
	if found.DeletionTimestamp != nil {
		state = "being deleted"
	}
	return fmt.Errorf("the pod of the reader, %s in namespace %s, is not ready for it: it is %s", pod, f.Namespace, state)
}
