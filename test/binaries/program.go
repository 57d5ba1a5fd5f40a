package binaries

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Names of the programs, which are also their file names.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Etcdctl           = "etcdctl" // backs up etcd
	Etcdutl           = "etcdutl" // restores a backup of etcd
	Kubelet           = "kubelet"
	Kubectl           = "kubectl"
	Containerd        = "containerd"
	ContainerdShim    = "containerd-shim-runc-v2"
	Ctr               = "ctr" // imports images into containerd
	CoreDNS           = "coredns"
	E2E               = "e2e.test" // the end-to-end specs of Kubernetes
	Kueue             = "kueue"    // suspends and resumes Jobs by quota
	JobSet            = "jobset"   // creates groups of Jobs
	Helm              = "helm"
	Kustomize         = "kustomize"
	VersityGW         = "versitygw" // an S3 server that stores objects as files in a directory
)

// Cluster are the programs that run in every cluster. Etcdctl and Etcdutl are built only for a test that takes a
// backup.
var Cluster = []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok}

// Node are the programs of a real node, which runs containers, of its DNS, and kubectl.
var Node = []string{Kubelet, Kubectl, Containerd, ContainerdShim, Ctr, CoreDNS}

// Minors are the older minor versions of Kubernetes. Their API server, controllers and scheduler are built if a test
// asks for them (Config.Minor). Each minor has its own go.mod.
var Minors = []string{"1.32", "1.33", "1.34", "1.35", "1.36"}

// Beside are the controllers that tests run beside Jobledger, and kubectl, which reads the manifests of their releases.
var Beside = []string{Kubectl, Kueue, JobSet}

// Installers are programs that install charts and manifests, as administrators do.
var Installers = []string{Helm, Kustomize}

// Buckets is the S3 server to which controllers copy their logs.
var Buckets = []string{VersityGW}

// program is a program that this package can build for tests.
type program struct {
	name   string
	pkg    string // import path of the main package
	module string // module that gives the program its version
	tools  string // directory below test/tools with the go.mod; empty: test/tools itself
	// cold is how long the build takes on two idle cores with an empty build cache, after the builds of the programs in
	// front of it in the list.
	cold time.Duration
	// vars returns the variables for the linker to set, given a version such as v1.37.2.
	vars func(version string) []string
}

// minor returns the older minor version, one of Minors, to which the program belongs; empty: none.
func (p program) minor() string {
	minor, older := strings.CutPrefix(p.tools, olderPrefix)
	if !older {
		return ""
	}
	return minor
}

// olderPrefix is the first part of the names of the directories of Minors, below test/tools.
const olderPrefix = "kubernetes-"

// origin says where the version of a program comes from: a go.mod, and a module that it requires.
type origin struct{ tools, module string }

func (p program) origin() origin { return origin{p.tools, p.module} }

// file returns the path of the program in the directory of programs. Older minors have subdirectories, because a
// program must keep its file name: it writes that name into the managed fields of objects.
func (p program) file() string { return filepath.Join(p.minor(), p.name) }

// label returns the program's name; for a program of an older Kubernetes, with its minor version, so that it is
// unique.
func (p program) label() string {
	if minor := p.minor(); minor != "" {
		return p.name + "-" + minor
	}
	return p.name
}

// programs lists all programs, in the order in which they are built.
var programs = slices.Concat(ours, olderKubernetes())

// olderKubernetes returns the programs of the older Kubernetes versions in Minors.
func olderKubernetes() (all []program) {
	for _, minor := range Minors {
		tools := olderPrefix + minor
		all = append(all,
			program{APIServer, "k8s.io/kubernetes/cmd/kube-apiserver", kubernetesModule, tools, 285 * time.Second, kubernetesVars},
			program{ControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager", kubernetesModule, tools, 85 * time.Second, kubernetesVars},
			program{Scheduler, "k8s.io/kubernetes/cmd/kube-scheduler", kubernetesModule, tools, 10 * time.Second, kubernetesVars},
		)
	}
	return all
}

// find returns the program of this name: the one of the minor version if it exists, else the one of the current
// version.
func find(name, minor string) (program, bool) {
	for _, of := range []string{minor, ""} {
		i := slices.IndexFunc(programs, func(p program) bool { return p.name == name && p.minor() == of })
		if i >= 0 {
			return programs[i], true
		}
	}
	return program{}, false
}

// ours lists the programs with the versions of test/tools, or of a module below it; older minor versions are not in it.
// It is in the order of building, because each program uses what was compiled for those in front of it.
var ours = []program{
	{Etcd, "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3", "", 75 * time.Second, noVars},
	{APIServer, "k8s.io/kubernetes/cmd/kube-apiserver", kubernetesModule, "", 285 * time.Second, kubernetesVars},
	{ControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager", kubernetesModule, "", 85 * time.Second, kubernetesVars},
	{Scheduler, "k8s.io/kubernetes/cmd/kube-scheduler", kubernetesModule, "", 10 * time.Second, kubernetesVars},
	{Kwok, "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok", "", 20 * time.Second, kwokVars},
	{Etcdctl, "go.etcd.io/etcd/etcdctl/v3", "go.etcd.io/etcd/etcdctl/v3", "", 10 * time.Second, noVars},
	{Etcdutl, "go.etcd.io/etcd/etcdutl/v3", "go.etcd.io/etcd/etcdutl/v3", "", 10 * time.Second, noVars},
	{Kubelet, "k8s.io/kubernetes/cmd/kubelet", kubernetesModule, "", 90 * time.Second, kubernetesVars},
	{Kubectl, "k8s.io/kubernetes/cmd/kubectl", kubernetesModule, "", 30 * time.Second, kubernetesVars},
	{Containerd, "github.com/containerd/containerd/v2/cmd/containerd", containerdModule, "containerd", 150 * time.Second, containerdVars},
	{ContainerdShim, "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2", containerdModule, "containerd", 10 * time.Second, containerdVars},
	{Ctr, "github.com/containerd/containerd/v2/cmd/ctr", containerdModule, "containerd", 10 * time.Second, containerdVars},
	{E2E, "k8s.io/kubernetes/test/e2e", kubernetesModule, "", 150 * time.Second, kubernetesVars},
	{CoreDNS, ownPrefix + "test/tools/coredns", "github.com/coredns/coredns", "coredns", 60 * time.Second, noVars},
	{Kueue, kueueModule + "/cmd/kueue", kueueModule, "kueue", 180 * time.Second, kueueVars},
	{JobSet, jobSetModule, jobSetModule, "jobset", 100 * time.Second, jobSetVars},
	{Helm, helmModule + "/cmd/helm", helmModule, "helm", 90 * time.Second, helmVars},
	{Kustomize, kustomizeModule, kustomizeModule, "kustomize", 15 * time.Second, kustomizeVars},
	{VersityGW, versityModule + "/cmd/versitygw", versityModule, "versitygw", 60 * time.Second, versityVars},
}

// pace says how fast this machine builds: how long the builds took so far, and how long they take on two idle cores
// with an empty cache.
type pace struct{ took, cold time.Duration }

// estimate returns how long a build will take here that takes cold on two idle cores.
func (p pace) estimate(cold time.Duration) time.Duration {
	if p.cold == 0 {
		return cold
	}
	return time.Duration(float64(cold) * float64(p.took) / float64(p.cold)).Round(time.Second)
}

func noVars(string) []string { return nil }

// kubernetesVars returns the linker variables that a release of Kubernetes sets. Without them /version says
// v0.0.0-master, and clients that compare versions take the server for a very old one.
func kubernetesVars(version string) []string {
	mm := strings.TrimPrefix(semver.MajorMinor(version), "v")
	major, minor, _ := strings.Cut(mm, ".")
	var vars []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		vars = append(vars,
			pkg+".gitVersion="+version,
			pkg+".gitMajor="+major,
			pkg+".gitMinor="+minor,
			pkg+".gitTreeState=clean",
		)
	}
	return vars
}

// ownPrefix is the beginning of the import paths of main packages that are our own, such as that of CoreDNS with a few
// plugins. The modules of these packages require the program.
const ownPrefix = "github.com/jobledger/jobledger/"

const kubernetesModule = "k8s.io/kubernetes"

const containerdModule = "github.com/containerd/containerd/v2"

func containerdVars(version string) []string {
	return []string{containerdModule + "/version.Version=" + version}
}

const (
	kueueModule  = "sigs.k8s.io/kueue"
	jobSetModule = "sigs.k8s.io/jobset"
)

// kueueVars returns the linker variable for the version in kueue's user agent, which would be v0.0.0 without it.
// jobSetVars does this for jobset.
func kueueVars(version string) []string {
	return []string{kueueModule + "/pkg/version.GitVersion=" + version}
}

func jobSetVars(version string) []string {
	return []string{jobSetModule + "/pkg/version.GitVersion=" + version}
}

const (
	helmModule      = "helm.sh/helm/v4"
	kustomizeModule = "sigs.k8s.io/kustomize/kustomize/v5"
)

func helmVars(version string) []string {
	return []string{helmModule + "/internal/version.version=" + version}
}

func kustomizeVars(version string) []string {
	return []string{"sigs.k8s.io/kustomize/api/provenance.version=" + version}
}

const versityModule = "github.com/versity/versitygw"

func versityVars(version string) []string { return []string{"main.Version=" + version} }

func kwokVars(version string) []string {
	return []string{"sigs.k8s.io/kwok/pkg/consts.Version=" + version}
}

// verb returns the go command and its flags that build the program. The end-to-end specs are the tests of a package.
// They are built without vet, because to vet all their imports takes longer than the build.
func (p program) verb() []string {
	if p.name == E2E {
		return []string{"test", "-c", "-vet=off", "-v"}
	}
	return []string{"build", "-v"}
}

// ldflags returns flags that omit the symbol table and the debug information, because nobody debugs these programs, and
// linking is faster.
func (p program) ldflags(version string) string {
	flags := "-s -w"
	for _, v := range p.vars(version) {
		flags += " -X " + v
	}
	return flags
}

// stamp returns the content of a program's stamp file if the program is up to date.
func (p program) stamp(version string) string {
	return fmt.Sprintf("%s %s %s/%s %s\n", p.pkg, version, runtime.GOOS, runtime.GOARCH, p.ldflags(version))
}

// versions returns the module versions that toolsDir/go.mod and the go.mod files below it require.
func versions(toolsDir string) (map[origin]string, error) {
	found := make(map[origin]string) // versions of the modules of all programs
	read := make(map[string]map[string]string)
	for _, p := range programs {
		path := filepath.Join(toolsDir, p.tools, "go.mod")
		if read[path] == nil {
			required, err := requirements(path)
			if err != nil {
				return nil, fmt.Errorf("read the versions of the control plane: %w", err)
			}
			read[path] = required
		}
		version := read[path][p.module]
		if version == "" {
			return nil, fmt.Errorf("%s does not require %s", path, p.module)
		}
		found[p.origin()] = version
	}
	return found, nil
}

// requirements returns the versions of the modules that a go.mod requires.
func requirements(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		return nil, err
	}
	required := make(map[string]string)
	for _, r := range file.Require {
		required[r.Mod.Path] = r.Mod.Version
	}
	return required, nil
}

// toolsMarker is the path of a file that only the root of the repository has: the go.mod of the tools.
const toolsMarker = "test/tools/go.mod"

// FindRoot returns the root of the Jobledger repository: the nearest directory, at or above the working directory, that
// contains test/tools/go.mod.
func FindRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(toolsMarker)))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("find the repository: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the repository: no %s in %s or above it; start inside a clone of it", toolsMarker, start)
		}
	}
}
