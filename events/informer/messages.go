package informer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Messages says how much is kept in which namespace. What an annotation says counts for what is recorded after it was
// seen. A nil Messages keeps all. Its methods may be called from any goroutine.
type Messages struct {
	usual  events.Keep
	logger *slog.Logger
	known  chan struct{} // closed when the namespaces were listed, or it is known that they cannot be
	once   sync.Once

	mu  sync.RWMutex
	own map[string]events.Keep // of namespaces with the annotation
}

// NewMessages keeps so much where no annotation says otherwise. A nil logger is the default.
func NewMessages(usual events.Keep, logger *slog.Logger) *Messages {
	if logger == nil {
		logger = slog.Default()
	}
	return &Messages{usual: usual, logger: logger, known: make(chan struct{}), own: map[string]events.Keep{}}
}

// mostWait is how long a start waits for the annotations: behind it the usual counts for namespaces that were not
// seen yet.
const mostWait = 5 * time.Second

// Wait waits until the annotations of the namespaces are known, or it is known that they cannot be read.
func (m *Messages) Wait(ctx context.Context) {
	if m == nil {
		return
	}
	select {
	case <-m.known:
		return
	default:
	}
	timer := time.NewTimer(mostWait)
	defer timer.Stop()
	select {
	case <-m.known:
	case <-ctx.Done():
	case <-timer.C:
		m.logger.Warn("namespaces could not be listed so far: until they are, their annotations "+events.KeepAnnotation+" do not count", "after", mostWait)
	}
}

// settled says that Wait has nothing to wait for any more.
func (m *Messages) settled() {
	if m != nil {
		m.once.Do(func() { close(m.known) })
	}
}

// set takes the annotations of a namespace. A value that says nothing is taken for none: whoever wrote it wants less
// to be kept.
func (m *Messages) set(namespace string, annotations map[string]string) {
	if m == nil {
		return
	}
	text, is := annotations[events.KeepAnnotation]
	m.mu.Lock()
	defer m.mu.Unlock()
	if !is {
		delete(m.own, namespace)
		return
	}
	k, err := events.ParseKeep(text)
	if before, had := m.own[namespace]; err != nil && (!had || before != k) {
		m.logger.Warn("the annotation "+events.KeepAnnotation+" of a namespace is none that is known: no message is kept there", "namespace", namespace,
			"error", err)
	}
	m.own[namespace] = k
}

func (m *Messages) of(namespace string) events.Keep {
	if m == nil {
		return events.KeepAll
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if k, is := m.own[namespace]; is {
		return k
	}
	return m.usual
}

// trim takes out of what is told of a pod what is not kept in its namespace.
func (m *Messages) trim(e *events.Evidence) {
	k := m.of(e.Namespace)
	if k == events.KeepAll {
		return
	}
	for i := range e.Containers {
		if c := &e.Containers[i]; c.Name != others {
			c.Message, c.MessageWithheld = k.Of(c.Message)
		}
	}
	for i := range e.Waits {
		w := &e.Waits[i]
		w.Message, w.MessageWithheld = k.Of(w.Message)
	}
}
