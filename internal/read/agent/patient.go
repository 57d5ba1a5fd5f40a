package agent

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Patient wraps a transport whose input may end before all answers are written, for example a pipe. The MCP library
// drops open requests at the end of the input. The wrapper therefore reports the end only after the last answer.
func Patient(t mcp.Transport) mcp.Transport { return patient{t} }

type patient struct{ mcp.Transport }

// Connect implements mcp.Transport: it opens a connection that waits for its answers before it reports the end of
// input.
func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &waiting{Connection: c}
	w.answered.L = &w.mu
	return w, nil
}

// waiting is a connection that counts the requests that have no answer yet.
type waiting struct {
	mcp.Connection

	mu       sync.Mutex
	answered sync.Cond
	open     int
	closed   bool
}

// Read implements mcp.Connection: it returns the next request, and counts it. It reports the end of the input only when
// all requests have an answer.
func (w *waiting) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := w.Connection.Read(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, is := m.(*jsonrpc.Request); err == nil && is && r.IsCall() {
		w.open++
	}
	if errors.Is(err, io.EOF) {
		stop := context.AfterFunc(ctx, w.wake)
		defer stop()
		for w.open > 0 && !w.closed && ctx.Err() == nil {
			w.answered.Wait()
		}
	}
	return m, err
}

func (w *waiting) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered.Broadcast()
}

// Write implements mcp.Connection: it sends an answer, and counts it.
func (w *waiting) Write(ctx context.Context, m jsonrpc.Message) error {
	err := w.Connection.Write(ctx, m)
	if _, is := m.(*jsonrpc.Response); is {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open--
		w.answered.Broadcast()
	}
	return err
}

// Close implements mcp.Connection: it closes the connection, and ends a Read that waits for answers.
func (w *waiting) Close() error {
	w.mu.Lock()
	w.closed = true
	w.answered.Broadcast()
	w.mu.Unlock()
	return w.Connection.Close()
}
