package agent

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Patient wraps a transport that may report the end of its input before all answers are written, as a pipe does. The
// wrapper reports the end only when every request has its answer. Without it, the library drops the open requests.
func Patient(t mcp.Transport) mcp.Transport { return patient{t} }

type patient struct{ mcp.Transport }

// Connect is described by mcp.Transport.
func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &waiting{Connection: c}
	w.answered.L = &w.mu
	return w, nil
}

// waiting counts the requests that have no answer yet.
type waiting struct {
	mcp.Connection

	mu       sync.Mutex
	answered sync.Cond
	open     int
	closed   bool
}

// Read is described by mcp.Connection.
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

// Write is described by mcp.Connection.
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

// Close is described by mcp.Connection.
func (w *waiting) Close() error {
	w.mu.Lock()
	w.closed = true
	w.answered.Broadcast()
	w.mu.Unlock()
	return w.Connection.Close()
}
