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

// Options configures a control plane. The zero value has one node, RBAC, and no controller that changes Jobs.
type Options struct {
	// Bare starts only etcd and kube-apiserver: no controllers, no scheduler, no nodes, no kwok; and pods need no
	// ServiceAccount. It is for measurements that would otherwise include the writes of other components.
	Bare bool
	// BuiltinBatch also runs the job, cronjob and ttl-after-finished controllers of kube-controller-manager.
	BuiltinBatch bool
	// Controllers are further controllers of kube-controller-manager, by name.
	Controllers []string
	// Nodes is the number of nodes (node-0 and so on); 0 means 1. A node accepts any number of pods.
	Nodes int
	// RealNodes: real kubelets join by themselves, see KubeletFiles. There are no simulated nodes and no kwok.
	RealNodes bool

	// PodOutcome and PodRunFor are jq queries on a pod. They return its Outcome, and how long it runs, such as "200ms".
	// If empty, the pod's annotations decide.
	PodOutcome, PodRunFor string

	// AuditLog is the file for the audit log of all writes; empty: a file in DataDir. See Writes.
	AuditLog string
	// AuditReads adds reads to the audit log, so that Writes and the methods that use it return them, too.
	AuditReads bool
	// AuditBodies adds the bodies of creates, patches and deletes to the audit log: see Write.Body.
	AuditBodies bool
	// Minor is an older version of Kubernetes, one of binaries.Minors; empty: the version of test/tools. API server,
	// controllers and scheduler have this version, and are built if they are missing. A component ends if it gets a
	// feature gate or an API version that it does not know.
	Minor string
	// FeatureGates are set for kube-apiserver, kube-controller-manager and kube-scheduler.
	FeatureGates map[string]bool
	// RuntimeConfig enables and disables API versions, such as "scheduling.k8s.io/v1alpha1": true.
	RuntimeConfig map[string]bool
	// APIServerArgs and ControllerManagerArgs follow our own arguments, so they override them.
	APIServerArgs         []string
	ControllerManagerArgs []string

	// BinDir is the directory of the programs; empty: bin/controlplane of the repository that contains the working
	// directory.
	BinDir string
	// DataDir is created, for data, logs, certificates and kubeconfigs; empty: a new temporary directory.
	DataDir string
	// Keep makes Stop keep DataDir.
	Keep bool
	// Timeout limits how long Start waits for the control plane after the programs are built; 0 means 5 min. A start
	// takes 10 s on an idle machine, but several may happen at once on a busy one. If a program ends, Start fails at
	// once.
	Timeout time.Duration
	// Progress receives the progress of a build, if there is one; nil: standard error.
	Progress io.Writer
}

// WithGangs returns the options with what gang scheduling in Kubernetes 1.37 needs: feature gates, the API of Workloads
// and PodGroups, and the controller that removes the finalizer of PodGroups. Options that are already set stay.
func (o Options) WithGangs() Options {
	r := Gangs()
	maps.Copy(r.FeatureGates, o.FeatureGates)
	maps.Copy(r.RuntimeConfig, o.RuntimeConfig)
	o.FeatureGates, o.RuntimeConfig = r.FeatureGates, r.RuntimeConfig
	o.Controllers = append(slices.Clip(o.Controllers), "podgroup-protection-controller")
	return o
}

// Gangs returns the newest release with the feature gates and the API of gang scheduling.
func Gangs() Release {
	return Release{
		FeatureGates:  map[string]bool{"GenericWorkload": true, "WorkloadWithJob": true},
		RuntimeConfig: map[string]bool{"scheduling.k8s.io/v1beta1": true},
	}
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

// baseControllers are controllers that always run. Without them namespaces would never end, pods would be refused for
// lack of a ServiceAccount, the pods of a deleted Job would stay, and the ClusterRoles view, edit and admin would be
// empty.
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

// switches formats booleans as flags of Kubernetes components expect them: a=true,b=false, in a fixed order.
func switches(m map[string]bool) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s=%t", k, m[k]))
	}
	return strings.Join(out, ",")
}
