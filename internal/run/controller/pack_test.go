package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// plainFiles says what comes of each try to pack a file.
type plainFiles struct{ tries []error }

func (l *plainFiles) Pack(context.Context) (events.Sequence, error) {
	if len(l.tries) == 0 {
		return 0, nil
	}
	err := l.tries[0]
	l.tries = l.tries[1:]
	return 1, err
}

// TestSealedFilesArePackedAndTroubleIsToldOnce: what cannot be packed now is tried again later.
func TestSealedFilesArePackedAndTroubleIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := fmt.Errorf("pack x: %w", store.ErrNoRoom)
		log := &plainFiles{tries: []error{nil, nil, full, full, full, nil, errors.New("rot"), nil}}
		var said strings.Builder
		registry := prometheus.NewRegistry()
		p := newPacker(log, 0, slog.New(slog.NewTextHandler(&said, nil)), registry)
		ctx, stop := context.WithCancel(t.Context())
		go p.run(ctx)
		time.Sleep(6 * packEvery)
		synctest.Wait()
		stop()
		if n := metricValue(t, registry, "jobledger_log_packed_files_total"); n != 4 || len(log.tries) > 0 {
			t.Errorf("%v files are packed, %d tries are left", n, len(log.tries))
		}
		if n := strings.Count(said.String(), "\n"); n != 2 || !strings.Contains(said.String(), "rot") {
			t.Errorf("said %q", said.String())
		}
	})
}
