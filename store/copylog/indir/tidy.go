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

// tempMark is a part of each temporary file's name, by which Tidy recognizes files that a crash left behind.
const tempMark = ".tmp-"

// Tidy removes temporary files older than the given time, which killed writers have left.
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
				continue // no temporary file, one that is too new, or one that was just renamed: it stays
			}
			if err := os.Remove(filepath.Join(p.path(dir), e.Name())); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}
