//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// packages of Debian, and a file of each, by which it is seen whether it is installed.
var packages = []struct{ name, file string }{
	{"runc", "/usr/sbin/runc"},
	{"containernetworking-plugins", "/usr/lib/cni/bridge"},
	{"iptables", "/usr/sbin/iptables"},
	{"iproute2", "/usr/sbin/ip"},
	{"busybox-static", busyboxFile},
}

const busyboxFile = "/usr/bin/busybox"

// install installs the packages that lack. Of several processes one does, and the others wait.
func install() error {
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "jobledger-packages.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	var lacking []string
	for _, p := range packages {
		if _, err := os.Stat(p.file); err != nil {
			lacking = append(lacking, p.name)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return fmt.Errorf("a real node needs %s, which apt-get would install, but there is no apt-get", strings.Join(lacking, ", "))
	}
	fmt.Fprintln(os.Stderr, "Installing", strings.Join(lacking, ", "))
	ctx := context.Background()
	args := append([]string{"-o", "DPkg::Lock::Timeout=600", "install", "-y", "--no-install-recommends"}, lacking...)
	if err := run(ctx, apt, args...); err == nil {
		return nil
	}
	// The lists of packages may be old, or not there yet.
	return errors.Join(run(ctx, apt, "update"), run(ctx, apt, args...))
}
