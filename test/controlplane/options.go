package controlplane

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Options choose what a control plane is like. The zero value is one node, RBAC, and no controller that touches Jobs.
type Options struct {
	// Bare runs etcd and kube-apiserver and nothing beside them: no controller, no scheduler, no nodes, no kwok, and pods
	// need no ServiceAccount. It is for measuring, where unrequested objects would be measured too.
	Bare bool
	// BuiltinBatch runs the job, cronjob and ttl-after-finished controllers of kube-controller-manager too.
	BuiltinBatch bool
	// Controllers are more controllers of kube-controller-manager to run, by their names there.
	Controllers []string
	// Nodes is how many nodes there are, node-0 and so on; 0 means 1. A node takes any number of pods.
	Nodes int
	// RealNodes leaves the nodes to kubelets that join by themselves, see KubeletFiles: there is no simulated node and no
	// kwok.
	RealNodes bool

	// PodOutcome and PodRunFor are queries (jq) of a pod, for its Outcome and for how long it runs, such as "200ms";
	// empty: its annotations say so.
	PodOutcome, PodRunFor string

	// AuditLog is the file for the audit log of all writes; empty: a file of our own. See Writes.
	AuditLog string
	// AuditReads has reads in the audit log, too: then Writes and what rests on it have them as well.
	AuditReads bool
	// AuditBodies has the bodies of creates, patches and deletes in the audit log, too: see Write.Body.
	AuditBodies bool
	// Minor is an older version of Kubernetes, one of binaries.Minors, whose API server, controllers and scheduler run,
	// built when they are missing; empty: the version of test/tools. Gates and API versions that it does not know end its
	// programs.
	Minor string
	// FeatureGates are set on kube-apiserver, kube-controller-manager and kube-scheduler alike.
	FeatureGates map[string]bool
	// RuntimeConfig enables and disables API versions, such as "scheduling.k8s.io/v1alpha1": true.
	RuntimeConfig map[string]bool
	// APIServerArgs and ControllerManagerArgs come after our own arguments, so that they win.
	APIServerArgs         []string
	ControllerManagerArgs []string

	// BinDir holds the programs; empty: bin/controlplane of the repository around the working directory.
	BinDir string
	// DataDir is created and holds data, logs, certificates and kubeconfigs; empty: a new directory for temporary files.
	DataDir string
	// Keep makes Stop leave DataDir.
	Keep bool
	// Timeout bounds how long Start waits for the control plane after the programs are built; 0 means 5 min: it takes ten
	// seconds alone, and several start at a time on machines that have much else to do. A program that ends meanwhile is
	// told at once.
	Timeout time.Duration
	// Progress is told what is being built, if anything is; nil: standard error.
	Progress io.Writer
}

func (o *Options) validate() error {
	if o.Bare && (o.BuiltinBatch || len(o.Controllers) > 0 || o.Nodes > 0) {
		return errors.New("a bare control plane has no controllers and no nodes")
	}
	if o.RealNodes && (o.Bare || o.Nodes > 0) {
		return errors.New("a control plane of real nodes has controllers, and no simulated nodes")
	}
	if o.Nodes < 0 {
		return fmt.Errorf("a control plane cannot have %d nodes", o.Nodes)
	}
	if o.Nodes == 0 && !o.RealNodes {
		o.Nodes = 1
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	return nil
}

// Controllers that always run. Without them namespaces never end, pods are refused for want of a ServiceAccount, what a
// deleted Job owns stays, and the ClusterRoles view, edit and admin are empty.
var baseControllers = []string{
	"namespace-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"garbage-collector-controller",
	"pod-garbage-collector-controller",
	"clusterrole-aggregation-controller",
}

var batchControllers = []string{
	"job-controller",
	"cronjob-controller",
	"ttl-after-finished-controller",
}

func (o *Options) controllers() []string {
	all := slices.Concat(baseControllers, o.Controllers)
	if o.BuiltinBatch {
		all = append(all, batchControllers...)
	}
	return all
}

// switches writes a map of booleans as Kubernetes components want it: a=true,b=false, in a fixed order.
func switches(m map[string]bool) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s=%t", k, m[k]))
	}
	return strings.Join(out, ",")
}
