package observation

import "sync"

// memoBytes bounds the size of the keys in a memo, and so the number of values.
const memoBytes = 1 << 20

// memo caches values that are computed from texts. Most objects of a cluster share a few texts, because the same
// programs wrote them. A full memo drops all entries, and it does not store a text larger than memoBytes, so users
// cannot make it grow. The zero value is empty and ready to use. It is safe for concurrent use.
type memo[V any] struct {
	mu    sync.Mutex
	bytes int
	known map[string]V
}

// of returns the cached value of text, or calls from and caches the result. It calls from without the lock, so two
// goroutines may compute the same value. It does not cache errors.
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
