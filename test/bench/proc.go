package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ, which is 100 on every platform that Go supports.
const tick = 10 * time.Millisecond

// usage is what a process has used since it started, as the kernel counts it.
type usage struct {
	cpu     time.Duration // user and system time
	written uint64        // bytes that it made the kernel write to disks
	rss     uint64        // resident bytes now, without the program's own pages
	peak    uint64        // most resident bytes so far, without the program's own pages
}

// usageOf reads the usage of a process from /proc/PID.
func usageOf(pid int) (usage, error) {
	var u usage
	dir := fmt.Sprintf("/proc/%d/", pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return u, fmt.Errorf("read what process %d has used: %w", pid, err)
	}
	// Skip to the last parenthesis: the second field is the program's name in parentheses, and may contain spaces and
	// parentheses.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime = 11, 12 // indexes in fields, which begins after the name; proc(5) calls them fields 14 and 15
	for _, i := range []int{utime, stime} {
		ticks, err := strconv.ParseUint(fields[i], 10, 64)
		if err != nil {
			return u, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
		}
		u.cpu += time.Duration(ticks) * tick
	}
	if u.written, err = lineOf(dir+"io", "write_bytes:"); err != nil {
		return u, err
	}
	if u.rss, err = lineOf(dir+"status", "VmRSS:"); err != nil {
		return u, err
	}
	if u.peak, err = lineOf(dir+"status", "VmHWM:"); err != nil {
		return u, err
	}
	u.rss, u.peak = u.rss<<10, u.peak<<10 // the file has them in KiB
	program, err := programOf(pid)
	u.rss, u.peak = u.rss-min(u.rss, program), u.peak-min(u.peak, program)
	return u, err
}

// programOf returns how many bytes of a process's program file are mapped and resident. This number depends on what the
// kernel had in its cache, because it also maps neighbouring pages: the same idle program was seen with 20 MiB and with
// 45 MiB. So these bytes are subtracted from the memory of a process.
func programOf(pid int) (uint64, error) {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return 0, fmt.Errorf("read which program process %d runs: %w", pid, err)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0, fmt.Errorf("read what process %d has mapped: %w", pid, err)
	}
	return residentOf(string(maps), program)
}

// residentOf returns the resident bytes of all mappings of a file, from the text of /proc/PID/smaps (proc(5)).
func residentOf(maps, file string) (sum uint64, err error) {
	own := false
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		// A line without a colon is the first one of a mapping: addresses, …, file.
		if !strings.HasSuffix(fields[0], ":") {
			own = len(fields) > 5 && strings.Join(fields[5:], " ") == file
		} else if own && fields[0] == "Rss:" {
			kib, err := strconv.ParseUint(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the resident bytes of %s: %w", file, err)
			}
			sum += kib << 10
		}
	}
	return sum, nil
}

// lineOf returns the number that follows name at the beginning of a line, in a file of /proc.
func lineOf(path, name string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s of %s: %w", name, path, err)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("read %s: there is no %s", path, name)
}

// machine is the CPU time of all processors, in total (all) and without idle time (busy). Time that the hypervisor
// gave to other machines counts as busy, because it was not available here.
type machine struct{ all, busy time.Duration }

func machineNow() (machine, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machine{}, fmt.Errorf("read what the machine has done: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var m machine
	// The fields: user nice system idle iowait irq softirq steal. Guest times are part of user.
	for i, field := range strings.Fields(line)[1:9] {
		ticks, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return machine{}, fmt.Errorf("read what the machine has done: %w", err)
		}
		m.all += time.Duration(ticks) * tick
		if i != 3 && i != 4 {
			m.busy += time.Duration(ticks) * tick
		}
	}
	return m, nil
}
