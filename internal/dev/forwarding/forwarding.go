package forwarding

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// protocol is the name of the port-forward protocol; in client-go it is portforward.PortForwardProtocolV1Name.
const protocol = "portforward.k8s.io"

// Serve answers a request for a port-forward, and returns when the client has left. dial connects to a port of the pod.
func Serve(w http.ResponseWriter, r *http.Request, dial func(port string) (net.Conn, error)) {
	if _, err := httpstream.Handshake(r, w, []string{protocol}); err != nil {
		return // Handshake has already sent the error to the client
	}
	f := &forwarded{dial: dial, errs: map[string]httpstream.Stream{}}
	c := spdy.NewResponseUpgrader().UpgradeResponse(w, r, f.take)
	if c == nil {
		return
	}
	<-c.CloseChan()
	_ = c.Close() // an error only says that the client has closed the connection
}

// forwarded is one port-forward, with all its connections.
type forwarded struct {
	dial func(port string) (net.Conn, error)

	mu sync.Mutex
	// streams for errors, by request ID; a client opens this one before the one for data
	errs map[string]httpstream.Stream
}

// take accepts a stream that the client opened. Each connection has two streams: the first is for errors, the second
// for data.
func (f *forwarded) take(s httpstream.Stream, replied <-chan struct{}) error {
	request := s.Headers().Get(corev1.PortForwardRequestIDHeader)
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
		f.errs[request] = s
		return nil
	}
	errs := f.errs[request]
	if errs == nil {
		return fmt.Errorf("request %s has no stream for errors", request)
	}
	delete(f.errs, request)
	go func() { // this goroutine ends when the stream ends
		<-replied
		f.copy(s, errs)
	}()
	return nil
}

// copy connects the data stream to the pod's port, and copies both ways until one side ends.
func (f *forwarded) copy(data, errs httpstream.Stream) {
	port := data.Headers().Get(corev1.PortHeader)
	conn, err := f.dial(port)
	if err != nil {
		fmt.Fprintf(errs, "error forwarding port %s to pod: %v", port, err)
		_ = errs.Close()
		_ = data.Close()
		return
	}
	both := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(conn, data); both <- struct{}{} }()
	go func() { _, _ = io.Copy(data, conn); both <- struct{}{} }()
	<-both
	_ = conn.Close()
	_ = data.Close()
	_ = errs.Close()
	_ = data.Reset()
	<-both
}
