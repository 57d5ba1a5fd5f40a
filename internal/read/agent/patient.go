package agent

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Patient wraps a transport whose input may end before all answers are written, for example a pipe. The library would
// drop the open requests at the end of the input. The wrapper therefore reports the end only after the last answer.
func Patient(t mcp.Transport) mcp.Transport { return patient{t} }

type patient struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &waiting{Connection: c}
	w.answered.L = &w.mu
	return w, nil
}

// waiting is a connection that counts the requests without an answer.
type waiting struct {
	mcp.Connection

	mu       sync.Mutex
	answered sync.Cond
	open     int
	closed   bool
}

// Read implements mcp.Connection. It counts requests, and delays the end of the input while some have no answer.
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

// Write implements mcp.Connection. It counts answers.
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

// Close implements mcp.Connection. It wakes a Read that waits for answers.
func (w *waiting) Close() error {
	w.mu.Lock()
	w.closed = true
	w.answered.Broadcast()
	w.mu.Unlock()
	return w.Connection.Close()
}
