package indir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempMark is in the name of a temporary file.
const tempMark = ".tmp-"

// Tidy removes temporary files from before the given time, which killed writers left behind.
func (p Place) Tidy(ctx context.Context, before time.Time) error {
	var errs []error
	for _, dir := range []string{"", "files", "tail", "manifests"} {
		entries, err := os.ReadDir(p.path(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !e.Type().IsRegular() || !strings.Contains(e.Name(), tempMark) || info.ModTime().After(before) {
				continue // it was renamed a moment ago, or is no temporary file
			}
			if err := os.Remove(filepath.Join(p.path(dir), e.Name())); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}
