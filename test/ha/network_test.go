package ha

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// network is a network namespace with one controller in it. It reaches the API server, NATS and other controllers over a
// link, each of these at an address of its own on this side, where forwarders listen.
type network struct {
	t                *testing.T
	name             string
	api, nats, peers string // addresses of this side
	inside           string // address of the controller's side
}

// apart gives each controller of a world a network namespace of its own. It takes the rights of root.
func apart(t *testing.T) (setting, *[]*network) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces are made by root")
	}
	all := &[]*network{}
	return setting{place: func(w *world, i int, c *controller.Config) string {
		n := newNetwork(t, i)
		*all = append(*all, n)
		return n.settle(w, i, c)
	}}, all
}

// newFollowWorldApart is a world of controllers that follow each other, each in a network namespace of its own.
func newFollowWorldApart(t *testing.T, n int) (*world, []*network) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces are made by root")
	}
	var all []*network
	var hosts []net.IP
	for i := range n {
		one := newNetwork(t, i)
		all, hosts = append(all, one), append(hosts, net.ParseIP(one.inside), net.ParseIP(one.peers))
	}
	listen := func(i int) string { return net.JoinHostPort(all[i].inside, "10272") }
	return newFollowWorldAt(t, n, hosts, func(w *world, i int, c *controller.Config) (string, []string) {
		all[i].settle(w, i, c)
		urls := []string{"https://" + listen(i)}
		for j := range all {
			if j != i {
				urls = append(urls, "https://"+forward(t, all[i].peers, listen(j)))
			}
		}
		return listen(i), urls
	}), all
}

func newNetwork(t *testing.T, i int) *network {
	t.Helper()
	n := &network{t: t, name: fmt.Sprintf("jl%d-%d", os.Getpid(), i)}
	at := func(last int) string { return fmt.Sprintf("10.77.%d.%d", i, last) }
	n.api, n.nats, n.inside, n.peers = at(1), at(2), at(3), at(4)
	here, there := n.name+"h", n.name+"n"
	n.ip("netns", "add", n.name)
	t.Cleanup(func() { n.ip("netns", "del", n.name) }) // the link goes with it
	n.ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", n.name)
	n.ip("address", "add", n.api+"/28", "dev", here)
	n.ip("address", "add", n.nats+"/28", "dev", here)
	n.ip("address", "add", n.peers+"/28", "dev", here)
	n.ip("link", "set", here, "up")
	n.ip("-n", n.name, "address", "add", n.inside+"/28", "dev", there)
	n.ip("-n", n.name, "link", "set", there, "up")
	n.ip("-n", n.name, "link", "set", "lo", "up")
	return n
}

func (n *network) ip(args ...string) {
	n.t.Helper()
	if text, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Errorf("ip %s: %v: %s", strings.Join(args, " "), err, text)
	}
}

// settle runs the controller in the namespace, and tells it the addresses that are reached from there.
func (n *network) settle(w *world, i int, c *controller.Config) (nats string) {
	n.t.Helper()
	inside := filepath.Join(c.Dir, "inside")
	script := fmt.Sprintf("#!/bin/sh\nexec ip netns exec %s %s \"$@\"\n", n.name, c.Program)
	user, err := w.cp.UserConfig(w.users[i])
	if err := errors.Join(err, os.WriteFile(inside, []byte(script), 0o700)); err != nil {
		n.t.Fatal(err)
	}
	user = rest.CopyConfig(user)
	server, err := url.Parse(user.Host)
	if err != nil {
		n.t.Fatal(err)
	}
	user.ServerName = server.Hostname() // of its certificate
	user.Host = server.Scheme + "://" + forward(n.t, n.api, server.Host)
	c.Program, c.Kubeconfig = inside, filepath.Join(c.Dir, "inside.kubeconfig")
	if err := controlplane.WriteKubeconfig(user, c.Kubeconfig); err != nil {
		n.t.Fatal(err)
	}
	var all []string
	for _, s := range w.servers {
		all = append(all, "nats://"+forward(n.t, n.nats, strings.TrimPrefix(s.URL(), "nats://")))
	}
	return strings.Join(all, ",")
}

// cut drops what the controller sends to an address, without a word to either side. Its connections stay.
func (n *network) cut(address string) {
	n.t.Helper()
	n.ip("-n", n.name, "route", "add", "blackhole", address+"/32")
}

// mend ends a cut.
func (n *network) mend(address string) {
	n.t.Helper()
	n.ip("-n", n.name, "route", "del", "blackhole", address+"/32")
}

// forward listens on a port of an address, and carries what comes there to target and back, until the test ends.
func forward(t *testing.T, address, target string) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	var open sync.Map // connections
	var running sync.WaitGroup
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // ends with one of them
		_, _ = to.Close(), from.Close()
		open.Delete(to)
	}
	running.Go(func() { // ends with the listener
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				_ = in.Close()
				continue
			}
			open.Store(in, true)
			open.Store(out, true)
			running.Go(func() { carry(in, out) })
			running.Go(func() { carry(out, in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		running.Wait()
	})
	return l.Addr().String()
}
