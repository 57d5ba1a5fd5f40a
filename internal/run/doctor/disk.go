package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Log is where the controller's log is to be.
type Log struct {
	Dir string // empty where none was named; it need not exist
	Max int64  // --log-max-size; 0 for no bound
	// Ready asks the controller that writes that log for the lines of /readyz?verbose. running is false where none does.
	Ready func(context.Context) (lines []string, running bool, err error)
}

// How many writes the disk is measured with, and the latencies that matter: every batch of decisions waits for two of
// them.
const (
	writesMeasured = 50
	slowDisk       = 20 * time.Millisecond
	badDisk        = 200 * time.Millisecond
	ahead24        = 24 << 20 // what the log allocates ahead
)

// unfit are file systems that a log should not be on, by the magic number that statfs gives.
var unfit = map[int64]struct {
	name  string
	level Level
	why   string
}{
	0x6969:     {"NFS", Problem, "a write that was acknowledged can be lost, and locks can be broken"},
	0xff534d42: {"CIFS", Problem, "a write that was acknowledged can be lost, and locks can be broken"},
	0xfe534d42: {"SMB", Problem, "a write that was acknowledged can be lost, and locks can be broken"},
	0x01021994: {"tmpfs", Problem, "it is memory: the log is gone with the machine or the pod"},
	0x794c7630: {"overlayfs", Warning, "it is a container's own file system: the log is gone with the container"},
	0x9123683e: {"btrfs", Warning, "copy-on-write makes each write several"},
	0x2fc12fc1: {"ZFS", Warning, "copy-on-write makes each write several"},
}

// disk looks at the file system that the log is on, or will be: its kind, its room and how long it takes to write
// durably.
func disk(ctx context.Context, c *Config) []Finding {
	if c.Log.Dir == "" {
		return []Finding{{Level: Unknown, Text: "no log was named", Do: "name its directory with --log, on the machine where the controller runs"}}
	}
	dir, err := existing(c.Log.Dir)
	if err != nil {
		return []Finding{{Level: Problem, Text: err.Error()}}
	}
	kind, free, err := fileSystem(dir)
	if err != nil {
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("the file system of %s: %v", dir, err)}}
	}
	var found []Finding
	if u, is := unfit[kind]; is {
		found = append(found, Finding{Level: u.level, Text: fmt.Sprintf("%s is on %s: %s", dir, u.name, u.why), Do: "put the log on a local disk or a block device (ext4, xfs)"})
	}
	found = append(found, room(c, dir, free)...)
	return speed(ctx, dir, free, found)
}

// room says whether there is room for the log.
func room(c *Config, dir string, free int64) (found []Finding) {
	switch used := sizeOf(c.Log.Dir); {
	case free < 2*ahead24:
		found = append(found, Finding{Level: Problem, Text: fmt.Sprintf("%s are free on the disk of %s, and the log allocates %s ahead", bytes(free), dir, bytes(ahead24)), Do: "make room"})
	case c.Log.Max > 0 && used+free < c.Log.Max:
		found = append(found, Finding{
			Level: Warning, Text: fmt.Sprintf("the log may grow to %s, and there is room for %s", bytes(c.Log.Max), bytes(used+free)), Do: "lower --log-max-size, or make room",
		})
	case c.Log.Max == 0:
		found = append(found, Finding{
			Level: Note, Text: fmt.Sprintf("without --log-max-size the log grows without a bound; %s are free", bytes(free)),
			Do: "say the controller's --log-max-size here, or give it one; a pod that a Job ran takes about 2 KB",
		})
	}
	return found
}

// speed adds how long a durable write takes: before the others when there is nothing to do about it.
func speed(ctx context.Context, dir string, free int64, found []Finding) []Finding {
	took, err := measure(ctx, dir)
	switch {
	case errors.Is(err, syscall.ENOSPC) && free < 2*ahead24: // that is said already
	case errors.Is(err, syscall.ENOSPC):
		found = append(found, Finding{
			Level: Problem, Text: fmt.Sprintf("%s cannot be written: %v", dir, err), Do: "make room: files, or the account's share of the disk, are used up",
		})
	case err != nil:
		found = append(found, Finding{Level: Problem, Text: fmt.Sprintf("%s cannot be written: %v", dir, err), Do: "let the account of the controller write there"})
	default:
		text := fmt.Sprintf("a durable write (fdatasync) takes %s, at worst %s of %d", short(took[len(took)/2]), short(took[len(took)-1]), len(took))
		const do = "put the log on a faster disk: each decision waits for two such writes"
		switch p50 := took[len(took)/2]; {
		case p50 >= badDisk:
			found = append(found, Finding{Level: Problem, Text: text, Do: do})
		case p50 >= slowDisk:
			found = append(found, Finding{Level: Warning, Text: text, Do: do})
		default:
			found = append([]Finding{{Level: OK, Text: text}}, found...)
		}
	}
	return found
}

// existing is the directory, or the nearest above it that exists.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir):
			dir = filepath.Dir(dir)
		case err != nil:
			return "", err
		case !info.IsDir():
			return "", fmt.Errorf("%s is not a directory", dir)
		default:
			return dir, nil
		}
	}
}

// sizeOf is what the files of a directory take, 0 where there is none.
func sizeOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // what cannot be read is not counted
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// measure writes pages durably, as the log does, and returns how long each took, sorted.
func measure(ctx context.Context, dir string) (took []time.Duration, err error) {
	f, err := os.CreateTemp(dir, ".jobledger-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}()
	page := make([]byte, 4096)
	for i := range writesMeasured {
		if ctx.Err() != nil && i > 0 {
			break
		}
		begun := time.Now()
		if _, err := f.WriteAt(page, int64(i*len(page))); err != nil {
			return nil, err
		}
		if err := datasync(f); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took, nil
}

func short(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// bytes is a size for people.
func bytes(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
