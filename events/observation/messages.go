package observation

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Messages holds how much text is recorded in each namespace. An annotation applies to what is recorded after it was
// seen. A nil Messages keeps all. Any goroutine may call its methods.
type Messages struct {
	usual  events.Keep
	logger *slog.Logger
	known  chan struct{} // closed when the namespaces were listed, or cannot be
	once   sync.Once

	mu  sync.RWMutex
	own map[string]setting // namespaces with the annotation
}

// setting is the annotation of a namespace that says how much text of its pods is recorded: its value, and the value's
// meaning.
type setting struct {
	text string
	keep events.Keep
}

// NewMessages returns Messages that use usual for namespaces without the annotation. A nil logger means the default.
func NewMessages(usual events.Keep, logger *slog.Logger) *Messages {
	if logger == nil {
		logger = slog.Default()
	}
	return &Messages{usual: usual, logger: logger, known: make(chan struct{}), own: map[string]setting{}}
}

// mostWait bounds the wait for the annotations at a start. Until a namespace is seen, Messages.usual, the operator's
// setting, applies to it.
const mostWait = 5 * time.Second

// Wait blocks until the annotations of the namespaces are known or cannot be read, at most mostWait.
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

// Settled ends all calls of Wait.
func (m *Messages) Settled() {
	if m != nil {
		m.once.Do(func() { close(m.known) })
	}
}

// Set takes the annotations of a namespace. An invalid value counts as none: its author wants less text to be kept.
func (m *Messages) Set(namespace string, annotations map[string]string) {
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
	if before, had := m.own[namespace]; err != nil && (!had || before.text != text) {
		m.logger.Warn("the annotation "+events.KeepAnnotation+" of a namespace is none that is known: no message is kept there", "namespace", namespace,
			"error", err)
	}
	m.own[namespace] = setting{text, k}
}

func (m *Messages) of(namespace string) events.Keep {
	if m == nil {
		return events.KeepAll
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if own, is := m.own[namespace]; is {
		return own.keep
	}
	return m.usual
}

// trim removes from the evidence of a pod the texts that its namespace does not keep.
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
