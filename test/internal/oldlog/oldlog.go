package oldlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// Write writes a log into dir as a controller would leave it whose log may have at most most bytes; it is three
// quarters full. Write returns the number (sequence) of the last record.
func Write(dir string, most int64) (events.Sequence, error) {
	log, err := open.Log(dir, store.Options{MaxBytes: most})
	if err != nil {
		return 0, err
	}
	enough := errors.New("the log is large enough")
	cfg := joblog.Busy(1 << 30)
	cfg.Single = 1000
	var head events.Sequence
	turns := 0
	cfg.Between = func(_ events.Time, l *loop.Loop) error {
		head = l.World().Head
		if turns++; turns%20 != 0 {
			return nil
		}
		if bytes, err := Bytes(dir); err != nil || bytes <= most*3/4 {
			return err
		}
		return enough
	}
	if _, err := joblog.Write(log, cfg); err == nil {
		return 0, errors.Join(errors.New("the log ended before it was large"), log.Close())
	} else if !errors.Is(err, enough) {
		return 0, errors.Join(fmt.Errorf("write an old log: %w", err), log.Close())
	}
	return head, log.Close()
}

// Bytes returns the size of all files in a directory. A file that is being removed may or may not count.
func Bytes(dir string) (bytes int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
			bytes += info.Size()
		}
	}
	return bytes, nil
}
