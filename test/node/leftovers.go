//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// settings maps the files of kernel settings, which affect the whole machine, to their values.
type settings map[string]string

// kernelSettings lists the settings that a kubelet changes.
var kernelSettings = []string{
	"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops",
	"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/keys/root_maxbytes",
}

func readKernel() (settings, error) {
	s := settings{}
	for _, file := range kernelSettings {
		value, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s[file] = string(value)
	}
	return s, nil
}

// interfaces returns the names of the network interfaces that this process sees.
func interfaces() (names []string, err error) {
	entries, err := os.ReadDir("/sys/class/net")
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// restore writes these values back into the kernel.
func (s settings) restore() (err error) {
	for _, file := range slices.Sorted(maps.Keys(s)) {
		err = errors.Join(err, os.WriteFile(file, []byte(s[file]), 0o644))
	}
	return err
}

// compare returns an error if a node left new interfaces, mounts or processes on the machine. dir is the node's
// directory.
func compare(before []string, dir string) error {
	var left []string
	now, err := interfaces()
	if err != nil {
		return err
	}
	for _, name := range now {
		if !slices.Contains(before, name) {
			left = append(left, "the interface "+name)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			left = append(left, "the mount "+strings.TrimSpace(line))
		}
	}
	running, err := processesOf(dir)
	if err != nil {
		return err
	}
	for _, words := range running {
		left = append(left, "the process "+words)
	}
	if len(left) > 0 {
		return fmt.Errorf("the node left %s", strings.Join(left, ", "))
	}
	return nil
}

// processesOf returns the command lines of the processes that mention the directory dir.
func processesOf(dir string) (found []string, err error) {
	running, err := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range running {
		// If a process has just ended, its file is gone: skip it.
		if words, err := os.ReadFile(file); err == nil && strings.Contains(string(words), dir) {
			found = append(found, strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return found, err
}

// awaitEnd waits until no process mentions the directory dir, up to a minute.
func awaitEnd(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var left []string
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (done bool, err error) {
		left, err = processesOf(dir)
		return len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("wait for the processes of the node to end: %w; there are %s", err, strings.Join(left, ", "))
	}
	return nil
}

// hierarchies returns the root directories of the machine's cgroups: one in version 2, several in version 1.
func hierarchies() ([]string, error) {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return []string{"/sys/fs/cgroup"}, nil
	}
	return filepath.Glob("/sys/fs/cgroup/*")
}

// makeCgroups creates the cgroup of the node, because a kubelet expects it to exist.
func makeCgroups(name string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := os.MkdirAll(h+name, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// removeCgroups removes the cgroup of the node and the cgroups below it. It waits up to a minute for their processes to
// end.
func removeCgroups(name string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var last error
	err = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		last = nil
		for _, h := range all {
			last = errors.Join(last, removeCgroup(h+name))
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("remove the node's cgroups: %w", last)
	}
	return nil
}

// removeCgroup removes the cgroups below dir, and then dir. The files in a cgroup disappear with it.
func removeCgroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeCgroup(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}
