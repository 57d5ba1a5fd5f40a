package observation

import "k8s.io/apimachinery/pkg/types"

// put adds an object to an index, a map from keys to objects by UID.
func put[K comparable, V any](m map[K]map[types.UID]V, key K, uid types.UID, value V) {
	if m[key] == nil {
		m[key] = map[types.UID]V{}
	}
	m[key][uid] = value
}

// remove removes an object from an index.
func remove[K comparable, V any](m map[K]map[types.UID]V, key K, uid types.UID) {
	delete(m[key], uid)
	if len(m[key]) == 0 {
		delete(m, key)
	}
}
