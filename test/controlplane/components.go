package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/dev/port"
	"github.com/jobledger/jobledger/test/binaries"
)

// etcdSocket returns the address of etcd, a Unix socket. Unlike a port, no other process can take it.
func (cp *ControlPlane) etcdSocket() string { return "unix://" + cp.path("etcd.sock") }

func (cp *ControlPlane) startEtcd() error {
	return cp.launch(binaries.Etcd,
		"--data-dir="+cp.path("etcd"),
		"--listen-client-urls="+cp.etcdSocket(),
		// Nobody uses this address, but etcd requires one that is no Unix socket.
		"--advertise-client-urls=http://127.0.0.1:0",
		"--listen-peer-urls=http://127.0.0.1:0",
		"--unsafe-no-fsync", // no fsync is needed, because the data is removed with the control plane
		"--log-level=warn",
	)
}

// auditPolicy returns an audit policy that records every write once, when it was answered. Options add reads, and
// bodies of requests. A watch is recorded when it ends. The event of an update has the UID and version of the object
// even without its body.
func (cp *ControlPlane) auditPolicy() string {
	verbs := "create, update, patch, delete, deletecollection"
	if cp.opts.AuditReads {
		verbs += ", get, list, watch"
	}
	bodies := ""
	if cp.opts.AuditBodies {
		bodies = "- level: Request\n  verbs: [create, patch, delete]\n"
	}
	return `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
` + bodies + `- level: Metadata
  verbs: [` + verbs + `]
- level: None
`
}

// startAPIServer starts the API server and returns when it is ready. The port is reserved until Stop.
func (cp *ControlPlane) startAPIServer(ctx context.Context) error {
	files, err := cp.writeServerFiles()
	if err != nil {
		return fmt.Errorf("prepare kube-apiserver: %w", err)
	}
	held, release, err := port.Hold()
	if err != nil {
		return fmt.Errorf("choose a port for kube-apiserver: %w", err)
	}
	cp.releasePort = release
	cp.host = "https://127.0.0.1:" + strconv.Itoa(held)
	if cp.admin, err = cp.UserConfig("admin", mastersGroup); err != nil {
		return err
	}
	if err := cp.launch(binaries.APIServer, cp.apiServerArgs(held, files)...); err != nil {
		return err
	}
	return cp.awaitAPIServer(ctx)
}

// serverFiles are the paths of the files that the API server reads.
type serverFiles struct{ ca, cert, key, signingKey, auditPolicy string }

func (cp *ControlPlane) writeServerFiles() (serverFiles, error) {
	in := func(name string) string { return cp.path(filepath.Join("components", name)) }
	if cp.opts.RealNodes {
		if err := cp.writeKubeletClient(); err != nil {
			return serverFiles{}, err
		}
	}
	f := serverFiles{in("ca.crt"), in("apiserver.crt"), in("apiserver.key"), in("serviceaccount.key"), in("audit-policy.yaml")}
	cert, key, err := cp.ca.server()
	if err != nil {
		return f, err
	}
	signing, err := newSigningKey()
	if err != nil {
		return f, err
	}
	return f, writeFiles(map[string][]byte{
		f.ca:          cp.ca.pem,
		f.cert:        cert,
		f.key:         key,
		f.signingKey:  signing,
		f.auditPolicy: []byte(cp.auditPolicy()),
	})
}

func (cp *ControlPlane) apiServerArgs(port int, f serverFiles) []string {
	args := []string{
		"--etcd-servers=" + cp.etcdSocket(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		// The server must not publish its address as an Endpoint, because loopback addresses are not allowed there.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24", // the first address of this range is ServiceIP
		"--tls-cert-file=" + f.cert,
		"--tls-private-key-file=" + f.key,
		"--client-ca-file=" + f.ca,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + f.signingKey,
		"--service-account-signing-key-file=" + f.signingKey,
		// Disable this plugin: it taints new nodes as not ready, and the controller that would remove the taint does
		// not run here.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--audit-policy-file=" + f.auditPolicy,
		"--audit-log-path=" + cp.auditLog(),
		// In MB; so large that the log is never rotated, because the method Writes reads only one file.
		"--audit-log-maxsize=100000",
		"--profiling=false",
	}
	if cp.opts.RealNodes {
		args = append(args, cp.kubeletArgs()...)
	} else {
		args = append(args, "--authorization-mode=RBAC")
	}
	if cp.opts.Bare {
		// In addition to the plugin above, because the values of this flag add up.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	args = append(args, cp.gates()...)
	if len(cp.opts.RuntimeConfig) > 0 {
		args = append(args, runtimeFlag+switches(cp.opts.RuntimeConfig))
	}
	return append(args, cp.opts.APIServerArgs...)
}

// Flags whose values depend on the version of Kubernetes.
const (
	gatesFlag   = "--feature-gates="
	runtimeFlag = "--runtime-config="
)

func (cp *ControlPlane) gates() []string { return gatesOf(cp.opts.FeatureGates) }

func gatesOf(gates map[string]bool) []string {
	if len(gates) == 0 {
		return nil
	}
	return []string{gatesFlag + switches(gates)}
}

func (cp *ControlPlane) startControllerManager() error {
	kubeconfig, err := cp.componentKubeconfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--controllers=" + strings.Join(cp.opts.controllers(), ","),
		// Each controller then has a user of its own, by which the audit log tells them apart.
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + cp.path("components/serviceaccount.key"),
		"--root-ca-file=" + cp.path("components/ca.crt"),
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--profiling=false",
	}
	args = append(args, cp.gates()...)
	return cp.launch(binaries.ControllerManager, append(args, cp.opts.ControllerManagerArgs...)...)
}

const schedulerConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
enableProfiling: false
clientConnection:
  kubeconfig: %q
  qps: 1000
  burst: 2000
`

func (cp *ControlPlane) startScheduler() error {
	kubeconfig, err := cp.componentKubeconfig("system:kube-scheduler")
	if err != nil {
		return err
	}
	config := cp.path("components/scheduler.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, schedulerConfig, kubeconfig), 0o600); err != nil {
		return fmt.Errorf("prepare kube-scheduler: %w", err)
	}
	return cp.launch(binaries.Scheduler, append([]string{"--config=" + config, "--secure-port=0"}, cp.gates()...)...)
}

func (cp *ControlPlane) startKwok() error {
	kubeconfig, err := cp.componentKubeconfig("kwok", mastersGroup)
	if err != nil {
		return err
	}
	config := cp.path("components/kwok.yaml")
	if err := os.WriteFile(config, []byte(cp.opts.kwokConfig()), 0o600); err != nil {
		return fmt.Errorf("prepare kwok: %w", err)
	}
	return cp.launch(binaries.Kwok,
		"--kubeconfig="+kubeconfig,
		"--config="+config,
		"--manage-nodes-with-annotation-selector="+nodeAnnotation+"=fake",
		// No Leases for nodes, because no controller watches here whether nodes are healthy.
		"--node-lease-duration-seconds=0",
	)
}

// poll is the time between two checks of a condition while the control plane starts.
const poll = 50 * time.Millisecond

// awaitAPIServer returns when the API server reports that it is ready. It returns an error if the API server has ended.
func (cp *ControlPlane) awaitAPIServer(ctx context.Context) error {
	client, err := rest.HTTPClientFor(cp.admin)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	p := cp.process(binaries.APIServer)
	return cp.await(ctx, "kube-apiserver to be ready", p, func() (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, cp.host+"/readyz", nil)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, nil // try again: the API server does not listen yet
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK, nil
	})
}

// await calls done again and again until it returns true or an error. It returns an error if the process p or ctx
// ends before.
func (cp *ControlPlane) await(ctx context.Context, what string, p *process, done func() (bool, error)) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-p.ended:
			return p.failure()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; the end of the log %s:\n%s", what, context.Cause(ctx), p.log, tail(p.log, 2048))
		case <-tick.C:
		}
	}
}
