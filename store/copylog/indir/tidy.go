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

// tempMark is a part of the name of each temporary file.
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
				continue // the file was just renamed, or is not a temporary file
			}
			if err := os.Remove(filepath.Join(p.path(dir), e.Name())); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}
