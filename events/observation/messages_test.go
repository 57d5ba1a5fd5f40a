package observation

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestAStartDoesNotWaitForEver: nothing is heard of the namespaces.
func TestAStartDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		NewMessages(events.KeepAll, slog.New(slog.DiscardHandler)).Wait(t.Context())
		if waited := time.Since(began); waited != mostWait {
			t.Errorf("it waited for %s", waited)
		}
	})
}

// TestAnUnknownAnnotationIsWarnedOf: once for each text, also where nothing was kept before, which looks the same.
func TestAnUnknownAnnotationIsWarnedOf(t *testing.T) {
	var said bytes.Buffer
	m := NewMessages(events.KeepAll, slog.New(slog.NewTextHandler(&said, nil)))
	for _, text := range []string{"none", "some", "some", "few", "none"} {
		m.Set("a", map[string]string{events.KeepAnnotation: text})
	}
	if n := strings.Count(said.String(), "level=WARN"); n != 2 {
		t.Errorf("%d warnings, want one for each of two texts:\n%s", n, &said)
	}
}
