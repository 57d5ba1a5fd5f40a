package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// stream is the body of the API server's response to a watch. A read waits until the watch has an event.
type stream struct {
	*front
	kind   apiserver.Kind
	cursor *apiserver.Cursor
	text   bytes.Buffer // encoded events that were not read yet
	ended  bool
}

// Read returns new events, or waits for one.
func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.text.Len() == 0 {
		if s.ended {
			return 0, io.EOF
		}
		shown, err := s.show()
		if err != nil {
			return 0, err
		}
		if !shown {
			s.moved.Wait()
		}
	}
	return s.text.Read(p)
}

// show encodes the next event of the watch into text, for the next read. It reports whether there was one; there is
// none while the watch is held.
func (s *stream) show() (bool, error) {
	if s.held[s.kind] || s.paused[s.kind] {
		return false, nil
	}
	e, ok, err := s.cursor.Next()
	if err != nil || !ok {
		return false, err
	}
	return true, s.add(string(e.Type), e.Object)
}

func (s *stream) add(what string, o apiserver.Object) error {
	object, _ := typed(o, nil)
	text, err := json.Marshal(map[string]any{"type": what, "object": object})
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	s.text.Write(append(text, '\n'))
	return nil
}

// bookmark encodes the event with which a watch says that all initial events were sent.
func (s *stream) bookmark(version uint64) error {
	kind := kinds[s.kind]
	text, err := json.Marshal(map[string]any{"type": "BOOKMARK", "object": map[string]any{
		"kind": kind.Kind, "apiVersion": kind.GroupVersion().String(),
		"metadata": map[string]any{
			"resourceVersion": strconv.FormatUint(version, 10), "annotations": map[string]string{"k8s.io/initial-events-end": "true"},
		},
	}})
	if err != nil {
		return fmt.Errorf("encode a bookmark: %w", err)
	}
	s.text.Write(append(text, '\n'))
	return nil
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.moved.Broadcast()
}

// Close ends the watch.
func (s *stream) Close() error {
	s.end()
	return nil
}
