package open

import (
	"errors"
	"testing"
)

// TestALogInNoDirectory: who would leave a file beside it is told that there is no such place, and gets no address for
// a path.
func TestALogInNoDirectory(t *testing.T) {
	backends["elsewhere"] = backend{}
	t.Cleanup(func() { delete(backends, "elsewhere") })
	const address = "elsewhere:stream"
	if dir, err := Dir(address); !errors.Is(err, ErrNoDirectory) || dir != "" {
		t.Errorf("it is in %q: %v", dir, err)
	}
	if place := Place(address); place != address {
		t.Errorf("people are told of %q", place)
	}
}
