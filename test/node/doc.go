// Package node runs a real node for tests: containerd and a kubelet, which run containers, for a control plane of
// package controlplane.
//
// The kubelet is of the control plane's release, and containerd is built from its module (package binaries). runc, the
// CNI plugins, iptables, iproute2 and a static busybox are Debian packages; Main installs the missing ones. No image is
// pulled: the tests make images of our own programs and of busybox, and import them.
//
// # Namespaces
//
// Main runs the tests of a package in a child process with its own mount, PID, network, IPC and UTS namespaces, in
// which it is process 1. The control plane runs there, too. So a node has its own loopback and bridge and no way out,
// and leaves no mount or process behind: the kernel ends all of them with process 1. A third process, the guard,
// restores what namespaces do not cover: it removes the node's cgroups and resets the kernel settings that a kubelet
// changes. It ends after the parent, even if the parent is killed.
//
//	parent   packages, builds, images (all that needs the network)     → the directory
//	  child    TestMain again: control plane, Start, the tests
//	    etcd, kube-apiserver, …, containerd, kubelet, shims, pods
//	  guard    waits for the end of the parent
//
// # Network
//
// The node has a bridge with the address 10.88.0.1, which is also the node's address, and each pod has an address on
// it. The Service kubernetes has its usual address, at which a forwarder of ours listens. There is no kube-proxy, so of
// other Services only headless ones work.
//
// Package node needs root on Linux. Where something is missing, its tests are skipped, except in CI, where they fail.
//
// # Concurrency
//
// The methods of Node may be called from any goroutine. A process has one node. Several processes of a machine may have
// one node each at the same time. They share only the kernel settings, which the guard of the last one resets.
//
// Read next: main.go for parent and child, guard.go for the guard, machine.go for several nodes, kubelet.go for how the
// kubelet is configured, images.go for how images are made.
package node
