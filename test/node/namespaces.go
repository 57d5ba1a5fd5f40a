//go:build linux

package node

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Name of the node.
const Name = "real-node"

// The node's network: a bridge, at which each pod gets an address.
const (
	bridge = "jl0"
	// Without an address of its own a bridge takes that of one of its ports. It then changes as pods come and go, and the
	// other pods send to the old one, into the void, for up to half a minute.
	bridgeMAC = "0a:58:0a:58:00:01"
	podSubnet = "10.88.0.0/24"
	// IP is the node's address.
	IP = "10.88.0.1"
	// DNSIP is where pods ask for names.
	DNSIP = "10.0.0.10"
)

// enter makes a home of the child's namespaces: mounts that nobody else sees, a loopback and a bridge.
func enter(ctx context.Context) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%s is set, but this is no child of Main", dirEnv)
	}
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"", "/", "", unix.MS_REC | unix.MS_SHARED}, // a kubelet wants to share its mounts with pods
		{"proc", "/proc", "proc", 0},
		{"run", "/run", "tmpfs", 0},
		{"lib", "/var/lib", "tmpfs", 0}, // the kubelet has directories there that it does not ask for
		{"log", "/var/log", "tmpfs", 0}, // likewise
	} {
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	if err := unix.Sethostname([]byte(Name)); err != nil {
		return fmt.Errorf("name the node: %w", err)
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"link", "add", bridge, "address", bridgeMAC, "type", "bridge"},
		{"addr", "add", IP + "/24", "dev", bridge},
		{"link", "set", bridge, "up"},
		{"addr", "add", serviceIP + "/32", "dev", "lo"},
		{"addr", "add", DNSIP + "/32", "dev", "lo"},
		{"route", "add", "default", "via", IP}, // nothing is there: a kubelet looks for it to learn its address
	} {
		if err := run(ctx, "ip", args...); err != nil {
			return err
		}
	}
	return nil
}
