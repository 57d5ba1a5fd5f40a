package open

import (
	"errors"
	"testing"
)

// TestALogInNoDirectory: a log of such a backend has no directory in which a caller could leave a file. The caller gets
// an error, and no address that looks like a path.
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
