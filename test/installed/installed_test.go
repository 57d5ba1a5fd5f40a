//go:build linux

package installed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/node"
)

// volume is the volume of the log: a directory of the node, for claims with the class "local".
const volume = `
kubectl apply -f - <<EOF
apiVersion: v1
kind: PersistentVolume
metadata: {name: log}
spec:
  capacity: {storage: SIZE}
  accessModes: [ReadWriteOncePod]
  storageClassName: local
  persistentVolumeReclaimPolicy: Retain
  local: {path: "DIR"}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [NODE]}]
EOF
`

// TestInstalled: from an archive and a chart to a Job that ran, and back to a cluster without remains.
func TestInstalled(t *testing.T) {
	node.Need(t)
	sh(t, "kubectl wait --for=create -n default serviceaccount/default --timeout=60s")
	sh(t, "kubectl wait --for=create -n kube-node-lease lease/"+node.Name+" --timeout=60s") // the kubelet's, which stays
	before := objects(t)
	sh(t, strings.NewReplacer("DIR", file(volumeDir), "NODE", node.Name, "SIZE", "1Gi").Replace(volume))
	sh(t, "kubectl create -f "+file(chartFile))
	if _, err := try(t, "kubectl -n jobledger wait --for=create pod/jobledger-0 --timeout=60s && "+
		"kubectl -n jobledger wait --for=condition=Ready pod/jobledger-0 --timeout=180s"); err != nil {
		_, _ = try(t, "kubectl -n jobledger describe pod,pvc,pv; kubectl -n jobledger logs jobledger-0")
		t.Fatal("it does not become ready")
	}
	t.Run("the kubelet confines it", confined)
	t.Run("the image brings licences, and is pulled as the chart says", brings)
	t.Run("a Job runs, and explain tells of it", jobRuns)
	t.Run("patterns", patterns)
	t.Run("it goes on after its pod was deleted", goesOn)
	uninstall(t, before)
}

// confined: Pod Security "restricted" is enforced, and the kernel shows its limits on the process.
func confined(t *testing.T) {
	if out, err := try(t, "kubectl -n jobledger run root --image=busybox:1.37 --privileged"); err == nil || !strings.Contains(out, `violates PodSecurity "restricted`) {
		t.Errorf("a privileged pod is not refused: %s", out)
	}
	dir, err := processOf("/jobledger")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Uid": "65532 65532 65532 65532", "Gid": "65532 65532 65532 65532", "CapEff": "0000000000000000", "CapBnd": "0000000000000000",
		"NoNewPrivs": "1", "Seccomp": "2", // a filter
	} {
		if got, err := field(dir, name); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	mounts, err := os.ReadFile(dir + "/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); f[4] == "/" && !slices.Contains(strings.Split(f[5], ","), "ro") {
			t.Errorf("its root can be written: %s", line)
		}
	}
}

// brings: the running container has the licences of its modules. Its image is on the node already, and the kubelet
// asked no registry.
func brings(t *testing.T) {
	dir, err := processOf("/jobledger")
	if err != nil {
		t.Fatal(err)
	}
	licences, err := os.ReadFile(filepath.Join(dir, "root", "licenses.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go.etcd.io/bbolt", "k8s.io/client-go", "Apache License", "Redistribution and use in source and binary forms"} {
		if !strings.Contains(string(licences), want) {
			t.Errorf("the licences in the image do not have %q", want)
		}
	}
	if got := sh(t, "kubectl -n jobledger get pod jobledger-0 -o jsonpath='{.spec.containers[0].imagePullPolicy}'"); got != "IfNotPresent" {
		t.Errorf("the image is pulled %s", got)
	}
	statement, err := os.ReadFile(file("jobledger-" + imageTag + ".intoto.json"))
	if err != nil || !strings.Contains(string(statement), `"uncommittedChanges"`) {
		t.Errorf("the provenance beside the image does not say whether files were changed: %v", err)
	}
}

// jobRuns: the section "Is it well?" of docs/install.md works: a container of a Job of examples/ says hello, the Job
// ends, and explain reports it in the controller's pod. The first commands of docs/troubleshooting.md work, too.
func jobRuns(t *testing.T) {
	lines := shown(t, "docs/install.md", "## Is it well?")
	last := len(lines) - 1
	for _, line := range lines[:last] {
		sh(t, line)
	}
	explains(t, lines[last])
	if got := sh(t, "kubectl logs job/plain"); got != "hello\n" {
		t.Errorf("it said %q", got)
	}
	for _, line := range shown(t, "docs/troubleshooting.md", "## Look first") {
		sh(t, inPod(line))
	}
	sh(t, "kubectl delete job plain --timeout=60s")
}

// shown returns the commands of the first shell block below a heading of a page.
func shown(t *testing.T, page, heading string) (lines []string) {
	t.Helper()
	root, err := binaries.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(string(text), "\n"+heading+"\n")
	_, below, _ = strings.Cut(below, "```sh\n")
	block, _, found := strings.Cut(below, "```")
	lines = strings.Split(strings.TrimSpace(block), "\n")
	if !found || len(lines) < 2 {
		t.Fatalf("%s shows %q below %s", page, lines, heading)
	}
	return lines
}

// inPod turns a command on the log in DIR into one for a cluster, as docs/troubleshooting.md says.
func inPod(line string) string {
	if !strings.HasPrefix(line, "jobledger ") || !strings.Contains(line, " DIR") {
		return line
	}
	return "kubectl -n jobledger exec jobledger-0 -- " + strings.Replace(line, " DIR", " /var/lib/jobledger/log", 1)
}

// explains runs a command, which must report that the Job plain is complete.
func explains(t *testing.T, line string) {
	t.Helper()
	if out, err := try(t, line); err != nil || !strings.HasPrefix(out, "default/plain  COMPLETE") || !strings.Contains(out, "1 pod succeeded") {
		t.Errorf("$ %s\n%s%v", line, out, err)
	}
}

// goesOn: another pod takes over the log and the Lease, and a Job that ran meanwhile ends.
func goesOn(t *testing.T) {
	sh(t, `sed 's/name: plain/name: meanwhile/; s/sleep 0.5/sleep 8/' examples/plain.yaml | kubectl apply -f -`)
	sh(t, "kubectl wait --for=jsonpath={.status.ready}=1 job/meanwhile --timeout=120s")
	sh(t, "kubectl -n jobledger delete pod jobledger-0 --timeout=120s")
	sh(t, "kubectl wait --for=condition=complete job/meanwhile --timeout=180s")
	sh(t, "kubectl -n jobledger wait --for=condition=Ready pod/jobledger-0 --timeout=180s")
	sh(t, "kubectl delete job meanwhile --timeout=60s")
}

// uninstall follows docs/uninstall.md while a Job is left that no controller runs any more. Then the cluster is as
// before.
func uninstall(t *testing.T, before []string) {
	sh(t, `sed 's/name: plain/name: late/; s/sleep 0.5/sleep 600/' examples/plain.yaml | kubectl apply -f -`)
	sh(t, "kubectl wait --for=jsonpath={.status.ready}=1 job/late --timeout=120s")
	sh(t, "kubectl -n jobledger scale statefulset jobledger --replicas=0")
	sh(t, "kubectl -n jobledger wait --for=delete pod/jobledger-0 --timeout=120s")
	explains(t, "jobledger explain job/plain --log "+file(volumeDir)+"/log") // the history stays in the log's directory
	if out := sh(t, "jobledger release --let-go"); !strings.Contains(out, "1 pod with a finalizer") {
		t.Errorf("release: %s", out)
	}
	sh(t, "kubectl delete -f "+file(chartFile)+" --timeout=180s")
	sh(t, "kubectl delete job late --timeout=120s")
	sh(t, "kubectl wait --for=delete pod -l batch.kubernetes.io/job-name --timeout=120s")
	sh(t, "kubectl delete pv log --timeout=60s")
	compareObjects(t, before)
}
