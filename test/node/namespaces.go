//go:build linux

package node

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Name is the name of the node.
const Name = "real-node"

// The node's network is a bridge, on which each pod has an address.
const (
	bridge = "jl0"
	// A bridge without a hardware address of its own takes that of one of its ports. The address would then change as
	// pods come and go, and other pods would not reach the node for up to half a minute.
	bridgeMAC = "0a:58:0a:58:00:01"
	podSubnet = "10.88.0.0/24"
	// IP is the node's address.
	IP = "10.88.0.1"
	// DNSIP is the address of the DNS for pods.
	DNSIP = "10.0.0.10"
)

// enter sets up the namespaces of the child process: private mounts, a loopback and a bridge.
func enter(ctx context.Context) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%s is set, but this is no child of Main", dirEnv)
	}
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"", "/", "", unix.MS_REC | unix.MS_SHARED}, // shared, because a kubelet passes mounts on to pods
		{"proc", "/proc", "proc", 0},
		{"run", "/run", "tmpfs", 0},
		{"lib", "/var/lib", "tmpfs", 0}, // the kubelet writes to fixed directories below it
		{"log", "/var/log", "tmpfs", 0}, // the kubelet writes to fixed directories below it, too
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
		{"route", "add", "default", "via", IP}, // the route leads nowhere, but a kubelet finds its own address by it
	} {
		if err := run(ctx, "ip", args...); err != nil {
			return err
		}
	}
	return nil
}
