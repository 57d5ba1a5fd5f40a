//go:build linux

package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jobledger/jobledger/test/binaries"
)

// containerdConfig is a configuration of containerd with these changes: directories and sockets are the node's own, and
// containers do not get a better OOM score than this process, because root may lack the right for that.
const containerdConfig = `version = 3
root = '%[1]s/root'
state = '%[1]s/state'

[grpc]
  address = '%[1]s/sock'

[ttrpc]
  address = '%[1]s/ttrpc'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '%[2]s'

[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = '%[1]s/registries'

[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ['/usr/lib/cni']
  conf_dir = '%[1]s/cni'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = '/usr/sbin/runc'
  SystemdCgroup = false
`

// cniConfig is the configuration of the pods' network: each pod gets an address on the bridge. No firewall rules are
// needed, because the network leads nowhere.
const cniConfig = `{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [{
    "type": "bridge",
    "bridge": "` + bridge + `",
    "isGateway": true,
    "isDefaultGateway": true,
    "hairpinMode": true,
    "ipam": {"type": "host-local", "dataDir": "%s/addresses", "ranges": [[{"subnet": "` + podSubnet + `", "gateway": "` + IP + `"}]]}
  }]
}
`

// startContainerd starts containerd, waits until it answers, and loads the image of the pause container, which each pod
// needs.
func (n *Node) startContainerd(ctx context.Context) error {
	dir := n.path("containerd")
	if err := os.MkdirAll(filepath.Join(dir, "cni"), 0o700); err != nil {
		return err
	}
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, containerdConfig, dir, pauseName), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cni", "pods.conflist"), fmt.Appendf(nil, cniConfig, dir), 0o600); err != nil {
		return err
	}
	if err := n.runContainerd(ctx); err != nil {
		return err
	}
	return n.Load(ctx, filepath.Join(n.dir, pauseArchive))
}

func (n *Node) runContainerd(ctx context.Context) error {
	err := n.launch(binaries.Containerd, n.program(binaries.Containerd), "--config="+n.path("containerd/config.toml"))
	if err != nil {
		return err
	}
	return n.await(ctx, binaries.Containerd, func() error { return n.ctr(ctx, "version") })
}

func (n *Node) containerdSocket() string { return n.path("containerd/sock") }

// Load imports the images in an OCI archive into the node.
func (n *Node) Load(ctx context.Context, archive string) error {
	if err := n.ctr(ctx, "--namespace=k8s.io", "images", "import", archive); err != nil {
		return fmt.Errorf("load %s: %w", filepath.Base(archive), err)
	}
	return nil
}

// Registry makes the node ask for the images of the registry name at an HTTP URL.
func (n *Node) Registry(name, url string) error {
	dir := n.path(filepath.Join("containerd", "registries", name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "hosts.toml"), fmt.Appendf(nil, "server = %q\n", url), 0o644)
}

// KillContainer kills the first process of a container without telling the kubelet. id is the ID in the pod's status.
func (n *Node) KillContainer(ctx context.Context, id string) error {
	return n.ctr(ctx, "--namespace=k8s.io", "tasks", "kill", "--signal=SIGKILL", strings.TrimPrefix(id, "containerd://"))
}

// LoseContainer kills a container and removes every trace of it from the container runtime. The kubelet must not run
// meanwhile, because it would clean up itself.
func (n *Node) LoseContainer(ctx context.Context, id string) error {
	id = strings.TrimPrefix(id, "containerd://")
	if err := n.ctr(ctx, "--namespace=k8s.io", "tasks", "delete", "--force", id); err != nil {
		return err
	}
	if err := n.ctr(ctx, "--namespace=k8s.io", "containers", "delete", id); err != nil {
		return err
	}
	if err := n.end(binaries.Containerd); err != nil { // containerd forgets the container only at a restart
		return err
	}
	return n.runContainerd(ctx)
}

// Tag gives an image on the node another name, in addition.
func (n *Node) Tag(ctx context.Context, image, name string) error {
	for _, x := range []*string{&image, &name} {
		if first, _, _ := strings.Cut(*x, "/"); first == *x {
			*x = "docker.io/library/" + *x // the full name, as a kubelet uses it
		}
	}
	return n.ctr(ctx, "--namespace=k8s.io", "images", "tag", "--force", image, name)
}

func (n *Node) ctr(ctx context.Context, args ...string) error {
	return run(ctx, n.program(binaries.Ctr), append([]string{"--address=" + n.containerdSocket()}, args...)...)
}
