// Package installed installs Jobledger as its users do, on a real node: the image of 'make image', the objects of the
// Helm chart, a volume, and a kubelet that starts it. Jobs run there, also those of examples/patterns, and in the end
// all is taken off the cluster. A second installation comes beside the first, the kubelet's probes meet a controller
// that hangs, old records go, and an operator leaves.
//
// It needs root on Linux and JOBLEDGER_LONG=1 (package node says what else).
package installed
