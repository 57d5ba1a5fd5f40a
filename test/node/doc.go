// Package node runs a real node for tests: containerd and a kubelet, which run containers, for a control plane of
// package controlplane.
//
// The kubelet is that of the control plane's release, and containerd is built from its module (package binaries). runc,
// the CNI plugins, iptables, iproute2 and a static busybox are Debian's; Main installs those that lack. Nothing is
// pulled: images are made here, of our own programs and of busybox, and imported.
//
// # Namespaces
//
// Main runs the tests of a package in a child process that has mount, PID, network, IPC and UTS namespaces of its own,
// in which it is process 1. The control plane runs there too. So a node has a loopback and a bridge that nobody else
// sees, no way out, and no mount or process of it can be left over: the kernel ends all with process 1. A third
// process, the guard, puts back what namespaces do not hold: the node's cgroups and the kernel settings that a kubelet
// changes. It ends after the parent, also when the parent is killed.
//
//	parent   packages, builds, images (all that needs the network)     → the directory
//	  child    TestMain again: control plane, Start, the tests
//	    etcd, kube-apiserver, …, containerd, kubelet, shims, pods
//	  guard    waits for the end of the parent
//
// # Network
//
// A bridge with 10.88.0.1, which is the node's address, and pods beside it. The Service kubernetes has its usual
// address, at which a forwarder of ours listens: there is no kube-proxy, so of Services only headless ones work.
//
// Needs root on Linux. Package tests are skipped where something lacks, except in CI, where they fail.
//
// # Concurrency
//
// The methods of Node may be called from any goroutine. A process has one node. Several processes of a machine may have
// one each at the same time: what they share are the kernel settings, which the guard of the last one puts back.
//
// Read next: main.go for parent and child, guard.go for the guard, machine.go for several nodes, kubelet.go for how the
// kubelet is set up, images.go for how images are made.
package node
