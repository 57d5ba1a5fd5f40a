package kubewire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Stored says what the API server stored: it has some fields of the object in the answer to a write.
type Stored struct {
	UID     types.UID
	Version uint64 // resourceVersion; 0 if it is not a number
	// Written is when the server last stored the object: the newest time in its managed fields; zero if it has none.
	Written time.Time
}

// StoredOf returns the Stored of an object that is a value in memory.
func StoredOf(o metav1.Object) Stored {
	s := Stored{UID: o.GetUID(), Version: versionOf([]byte(o.GetResourceVersion()))}
	for _, e := range o.GetManagedFields() {
		s.wrote(e.Time)
	}
	return s
}

// ReadStored decodes the answer to a write, in protobuf or JSON.
func ReadStored(answer []byte) (s Stored, err error) {
	if !bytes.HasPrefix(answer, prefix) {
		var o metav1.PartialObjectMetadata
		if err := json.Unmarshal(answer, &o); err != nil {
			return s, fmt.Errorf("read an answer of the API server: %w", err)
		}
		return StoredOf(&o), nil
	}
	_, raw, err := unwrap(answer)
	for f := (fields{rest: raw}); f.next(&err); {
		if f.number == 1 {
			s.read(f.bytes, &err)
		}
	}
	return s, err
}

func (s *Stored) read(metadata []byte, err *error) {
	for f := (fields{rest: metadata}); f.next(err); {
		switch f.number {
		case 5:
			s.UID = types.UID(f.bytes)
		case 6:
			s.Version = versionOf(f.bytes)
		case metaManagedFields:
			for in := (fields{rest: f.bytes}); in.next(err); {
				if in.number == 4 {
					t := in.time(err)
					s.wrote(&t)
				}
			}
		}
	}
}

func (s *Stored) wrote(t *metav1.Time) {
	if t != nil && t.After(s.Written) {
		s.Written = t.Time
	}
}

func versionOf(text []byte) uint64 {
	v, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return v
}
