package informer

import "sync"

// memoBytes bounds the texts that a memo holds, and by that what was made of them.
const memoBytes = 1 << 20

// memo holds what was made of a text. Most objects of a cluster have few different ones, as they were made by the same
// programs. A memo that is full forgets everything, and a text that is larger than all of it is not held: what a tenant
// writes takes no more memory than that. Its zero value is empty, and it is safe for concurrent use.
type memo[V any] struct {
	mu    sync.Mutex
	bytes int
	known map[string]V
}

// of is what from makes of the text. It makes it outside the lock, so two may do so at once. An error is not held.
func (m *memo[V]) of(text []byte, from func() (V, error)) (V, error) {
	m.mu.Lock()
	v, ok := m.known[string(text)]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := from()
	if err != nil || len(text) > memoBytes {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if first, ok := m.known[string(text)]; ok {
		return first, nil
	}
	if m.bytes += len(text); m.known == nil || m.bytes > memoBytes {
		m.known, m.bytes = map[string]V{}, len(text)
	}
	m.known[string(text)] = v
	return v, nil
}
