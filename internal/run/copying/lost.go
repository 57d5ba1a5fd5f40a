package copying

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/witness"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

// OtherLogError is returned if the destination already has a copy of another log.
type OtherLogError struct {
	place    string
	copy, ID string
}

// Error says what the operator can do.
func (e *OtherLogError) Error() string {
	return fmt.Sprintf("at %s is a copy of log %s, and this is log %s: make this log of that copy (jobledger restore --from %s), or give it a place of its own",
		e.place, e.copy, e.ID, e.place)
}

// Lost reports whether the copy proves that the log lost records: it has later records than the log, of the same log.
// It returns an OtherLogError for a copy of another log.
func Lost(ctx context.Context, place copylog.Place, log store.Reader) (lost events.Loss, is bool, err error) {
	content, _, err := copylog.ReadAll(ctx, place, copylog.ManifestName, copylog.MostManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return lost, false, nil
	}
	if err != nil {
		return lost, false, err
	}
	m, err := copylog.Decode(content)
	if err != nil {
		return lost, false, fmt.Errorf("the copy at %s: %w", place, err)
	}
	if id := log.Identity().LogID; m.Identity.LogID != id {
		return lost, false, &OtherLogError{place: place.String(), copy: m.Identity.LogID, ID: id}
	}
	lost = events.Loss{Witness: events.WitnessCopy, Epoch: m.Identity.Epoch, Sequence: m.Head.Sequence, Hash: m.Head.Hash}
	is, err = witness.Lacks(log, lost)
	return lost, is, err
}
