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
	// A bridge without its own hardware address takes that of one of its ports. It would then change as pods come and
	// go, and other pods would lose the node for up to half a minute.
	bridgeMAC = "0a:58:0a:58:00:01"
	podSubnet = "10.88.0.0/24"
	// IP is the node's address.
	IP = "10.88.0.1"
	// DNSIP is the address of the DNS for pods.
	DNSIP = "10.0.0.10"
)

// enter sets up the child's namespaces: private mounts, a loopback and a bridge.
func enter(ctx context.Context) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%s is set, but this is no child of Main", dirEnv)
	}
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"", "/", "", unix.MS_REC | unix.MS_SHARED}, // a kubelet shares its mounts with pods
		{"proc", "/proc", "proc", 0},
		{"run", "/run", "tmpfs", 0},
		{"lib", "/var/lib", "tmpfs", 0}, // the kubelet has fixed directories there
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
		{"route", "add", "default", "via", IP}, // leads nowhere: a kubelet reads it to find its own address
	} {
		if err := run(ctx, "ip", args...); err != nil {
			return err
		}
	}
	return nil
}
