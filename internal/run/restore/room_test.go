package restore

import (
	"errors"
	"strings"
	"testing"
)

// TestADiskWithoutRoom is found before anything is downloaded.
func TestADiskWithoutRoom(t *testing.T) {
	w := &working{Plan: &Plan{Config: Config{Dir: t.TempDir()}, Bytes: 1000}}
	for _, row := range []struct {
		free int64
		err  error
		says string
	}{{999, nil, "has 999 bytes left, and 1000 are to come"}, {1000, nil, ""}, {0, errors.ErrUnsupported, ""}} {
		err := w.room(func(string) (int64, error) { return row.free, row.err })
		if (row.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%d bytes are free, %v: %v", row.free, row.err, err)
		}
	}
}
