//go:build linux

package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/jobledger/jobledger/test/binaries"
)

// corefile is the configuration of CoreDNS. It resolves only the names of the cluster.
const corefile = `cluster.local:53 {
  bind ` + DNSIP + `
  errors
  kubernetes cluster.local {
    kubeconfig %s
  }
}
`

// startDNS starts CoreDNS as a process, not as a pod, and returns when it resolves the API server's name.
func (n *Node) startDNS(ctx context.Context) error {
	file := n.path("Corefile")
	if err := os.WriteFile(file, fmt.Appendf(nil, corefile, n.cp.Kubeconfig()), 0o600); err != nil {
		return err
	}
	if err := n.launch(binaries.CoreDNS, n.program(binaries.CoreDNS), "-conf="+file); err != nil {
		return err
	}
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "udp", net.JoinHostPort(DNSIP, "53"))
	}}
	return n.await(ctx, binaries.CoreDNS, func() error {
		_, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
		return err
	})
}
