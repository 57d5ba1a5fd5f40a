//go:build linux

package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/binaries"
)

// kubeletConfig is a configuration of the kubelet with its own directories and these changes:
//
//   - It accepts cgroups of version 1, and does without systemd.
//   - Disk and memory belong to a machine that other programs use, too: pods are evicted late, images never.
//   - It does not touch the firewall.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://%[1]s
address: ` + IP + `
readOnlyPort: 0
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[2]q}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: %[3]s
failCgroupV1: false
failSwapOn: false
makeIPTablesUtilChains: false
evictionHard:
  memory.available: 100Mi
  nodefs.available: 1%%
  nodefs.inodesFree: 1%%
  imagefs.available: 1%%
imageGCHighThresholdPercent: 100
podLogsDir: %[4]s/pods
volumePluginDir: %[4]s/plugins
resolvConf: %[4]s/resolv.conf
clusterDomain: cluster.local
clusterDNS: [` + DNSIP + `]
maxPods: 200
registryPullQPS: 100
registryBurst: 200
`

// startKubelet writes the configuration, starts the kubelet, and returns when its node is ready.
func (n *Node) startKubelet(ctx context.Context) error {
	_, ca, err := n.cp.KubeletFiles(Name)
	if err != nil {
		return err
	}
	dir := n.path("kubelet")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := makeCgroups(cgroupOf(n.dir)); err != nil {
		return err
	}
	if err := os.WriteFile(dir+"/resolv.conf", []byte("nameserver "+DNSIP+"\n"), 0o644); err != nil {
		return err
	}
	config := fmt.Appendf(nil, kubeletConfig, n.containerdSocket(), ca, cgroupOf(n.dir), dir)
	if err := os.WriteFile(dir+"/config.yaml", config, 0o600); err != nil {
		return err
	}
	return n.StartKubelet(ctx)
}

// StartKubelet starts the kubelet again after StopKubelet, with additional arguments, and returns when its node is
// ready.
func (n *Node) StartKubelet(ctx context.Context, args ...string) error {
	kubeconfig, _, err := n.cp.KubeletFiles(Name)
	if err != nil {
		return err
	}
	dir := n.path("kubelet")
	err = n.launch(binaries.Kubelet, append([]string{n.program(binaries.Kubelet),
		"--config=" + dir + "/config.yaml",
		"--kubeconfig=" + kubeconfig,
		"--root-dir=" + dir + "/root",
		"--cert-dir=" + dir + "/pki",
		"--hostname-override=" + Name,
		"--node-ip=" + IP,
	}, args...)...)
	if err != nil {
		return err
	}
	started := time.Now()
	return n.await(ctx, binaries.Kubelet, func() error {
		return cmp.Or(n.hasRenewed(ctx, started), n.isReady(ctx))
	})
}

// hasRenewed returns an error if the kubelet has not renewed its node's Lease after the time since. The node of a
// killed kubelet stays ready for a while, so readiness alone proves nothing.
func (n *Node) hasRenewed(ctx context.Context, since time.Time) error {
	lease, err := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if at := lease.Spec.RenewTime; at == nil || at.Time.Before(since) {
		return errors.New("the kubelet has not renewed its lease")
	}
	return nil
}

// StopKubelet kills the kubelet. The containers of its pods keep running.
func (n *Node) StopKubelet() error { return n.end(binaries.Kubelet) }

func (n *Node) isReady(ctx context.Context) error {
	node, err := n.client.CoreV1().Nodes().Get(ctx, Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return nil
		} else if c.Type == corev1.NodeReady {
			return errors.New(c.Message)
		}
	}
	return errors.New("the node says nothing of its state")
}
