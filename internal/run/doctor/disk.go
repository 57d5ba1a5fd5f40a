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

// Log says where the controller's log is, and how large it may get.
type Log struct {
	Dir string // empty if none was named; need not exist
	Max int64  // --log-max-size; 0 for no limit
	// Ready asks the controller that writes the log for the lines of /readyz?verbose. running is false if no controller
	// writes it.
	Ready func(context.Context) (lines []string, running bool, err error)
}

// The number of writes for measuring the disk, and the latencies above which the result is a warning or a problem.
// Every batch of decisions waits for two writes.
const (
	writesMeasured = 50
	slowDisk       = 20 * time.Millisecond
	badDisk        = 200 * time.Millisecond
	ahead24        = 24 << 20 // bytes that the log reserves on the disk before it needs them
)

// unfit maps the magic number of a file system (from statfs) on which a log should not be, to its name and how bad that
// is.
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

// disk checks the file system of the log: its kind, its free space, and the latency of durable writes.
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

// room checks whether the file system has enough free space for the log.
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

// speed measures the latency of durable writes, and adds the result to found. A good result becomes the first in the
// list.
func speed(ctx context.Context, dir string, free int64, found []Finding) []Finding {
	took, err := measure(ctx, dir)
	switch {
	case errors.Is(err, syscall.ENOSPC) && free < 2*ahead24: // the function room has reported the full disk
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

// existing returns dir, or its nearest parent that exists.
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

// sizeOf returns the size of the files in a directory; 0 if it does not exist.
func sizeOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // unreadable files are not counted
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// measure makes small durable writes, as the log does, and returns their latencies in ascending order.
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

// bytes formats a size: "1.5 GiB".
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
