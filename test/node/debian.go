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

// packages lists Debian packages, each with a file that exists if the package is installed.
var packages = []struct{ name, file string }{
	{"runc", "/usr/sbin/runc"},
	{"containernetworking-plugins", "/usr/lib/cni/bridge"},
	{"iptables", "/usr/sbin/iptables"},
	{"iproute2", "/usr/sbin/ip"},
	{"busybox-static", busyboxFile},
}

const busyboxFile = "/usr/bin/busybox"

// install installs the missing packages. If several processes call it at once, one installs and the others wait.
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
	// The packages may not be found because the lists are old or missing: update the lists, and try again.
	return errors.Join(run(ctx, apt, "update"), run(ctx, apt, args...))
}
