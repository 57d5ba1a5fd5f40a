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

// tempMark is in the name of a file that has not got its place yet.
const tempMark = ".tmp-"

// Tidy removes what writers left that ended before their objects had got their names: files that were written before
// that time.
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
				continue // it has got its name a moment ago, or is none of these
			}
			if err := os.Remove(filepath.Join(p.path(dir), e.Name())); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}
