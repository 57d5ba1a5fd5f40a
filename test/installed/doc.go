// Package installed installs Jobledger on a real node as its users do: the image of 'make image', the objects of the
// Helm chart, a volume, and a kubelet that starts it. Jobs run there, including those of examples/patterns; in the end
// everything is uninstalled. Other tests add a second installation, make the controller hang under the kubelet's
// probes, prune old records, and follow the pages for an operator who leaves.
//
// It needs root on Linux and JOBLEDGER_LONG=1; see package node for the rest.
package installed
