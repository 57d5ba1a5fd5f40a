//go:build linux

package installed

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/console"
	"github.com/jobledger/jobledger/test/node"
)

// batch is the namespace of the Jobs in docs/uninstall.md.
const batch = "batch"

// TestLeaving follows docs/install.md, docs/handover.md and docs/uninstall.md to the letter, on a real node. The
// operator has the rights of deploy/release/clusterrole.yaml for jobledger, and is an administrator for kubectl.
func TestLeaving(t *testing.T) {
	node.Need(t)
	for _, row := range []struct {
		sentence string
		leave    func(*leaver)
	}{{"at once with Jobs in flight", atOnce}, {"by a drain", byDrain}} {
		t.Run(row.sentence, func(t *testing.T) {
			l := newLeaver(t)
			l.install()
			l.handOver()
			row.leave(l)
			sh(t, "kubectl delete jobs --all -n "+batch+" --timeout=60s")
			sh(t, "kubectl wait --for=delete pod --all -n "+batch+" --timeout=120s")
			sh(t, "kubectl wait --for=delete namespace/jobledger --timeout=120s")
			compareObjects(t, l.before)
		})
	}
}

// leaver is an operator who installs and uninstalls.
type leaver struct {
	*testing.T
	root   string // of a copy of the repository
	bin    string // with a jobledger that has the operator's rights
	stop   string // a directory: the Job report ends when the file "now" appears in it
	before []string
}

func newLeaver(t *testing.T) *leaver {
	t.Helper()
	l := &leaver{T: t, root: copyOfRoot(t), bin: t.TempDir(), stop: t.TempDir()}
	if err := os.Chmod(l.stop, 0o755); err != nil {
		t.Fatal(err)
	}
	sh(t, class)
	t.Cleanup(func() { lastly(t, "kubectl delete storageclass local") })
	newVolume(t, "jobledger", "log-jobledger-0", "10Gi")
	sh(t, "kubectl create namespace "+batch)
	t.Cleanup(func() {
		if t.Failed() {
			lastly(t, "kubectl delete -f deploy/policy --ignore-not-found; kubectl delete -k deploy --ignore-not-found --timeout=180s; "+
				"jobledger release --let-go || true")
		}
		lastly(t, "kubectl delete namespace "+batch+" --timeout=180s")
	})
	sh(t, "kubectl apply -f deploy/release/clusterrole.yaml")
	if err := plane.Bind(t.Context(), "leaver", "jobledger-release"); err != nil {
		t.Fatal(err)
	}
	config, err := plane.UserConfig("leaver")
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(l.bin, "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\nKUBECONFIG=%s exec %s \"$@\"\n", kubeconfig, file("jobledger"))
	if err := os.WriteFile(filepath.Join(l.bin, "jobledger"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	sh(t, "kubectl wait --for=create -n "+batch+" serviceaccount/default --timeout=60s")
	sh(t, "kubectl wait --for=create -n kube-node-lease lease/"+node.Name+" --timeout=60s") // the kubelet's, which stays
	l.before = objects(t)
	return l
}

// sh runs a command in the copy of the repository, as the operator, and returns its output and its exit code.
func (l *leaver) sh(line string) (out string, code int) {
	l.Helper()
	out = sh(l.T, "cd "+l.root+"\nPATH="+l.bin+":$PATH\n"+line+"\ncode=$?; echo; echo code $code")
	out, said, _ := strings.Cut(out, "\ncode ")
	if _, err := fmt.Sscan(said, &code); err != nil {
		l.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n"), code
}

// must is sh for a command that must succeed.
func (l *leaver) must(line string) string {
	l.Helper()
	out, code := l.sh(line)
	if code != 0 {
		l.Fatalf("$ %s: code %d\n%s", line, code, out)
	}
	return out
}

// install follows docs/install.md: a check with the administrator's rights, the manifests, and a check with those of
// the ServiceAccount.
func (l *leaver) install() {
	l.Helper()
	look := func(line string) {
		l.Helper()
		if out, err := try(l.T, line); err != nil || strings.Contains(out, "problem ") {
			l.Errorf("$ %s\n%s%v", line, out, err)
		}
	}
	root, err := binaries.FindRoot()
	if err != nil {
		l.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "install.md"))
	if err != nil {
		l.Fatal(err)
	}
	doctor := regexp.MustCompile(`(?m)^jobledger doctor.*$`).FindAllString(string(text), -1)
	if len(doctor) != 2 {
		l.Fatalf("docs/install.md shows %q", doctor)
	}
	look(doctor[0])
	all, err := documented()
	if err != nil {
		l.Fatal(err)
	}
	i := slices.IndexFunc(all, func(b block) bool { return b.page == "docs/install.md" && !b.helm() })
	for _, command := range all[i].commands {
		l.must(command)
	}
	look(doctor[1])
	for _, line := range shown(l.T, "docs/upgrade.md", "4. See it become ready:") {
		sh(l.T, line)
	}
}

// handOver gives the Jobs of a namespace to Jobledger by the policy, as docs/handover.md says, and creates some: a
// finished one, a suspended one, and one with a running pod. None of them names a controller.
func (l *leaver) handOver() {
	l.Helper()
	l.must("kubectl apply -f deploy/policy/mutating.yaml")
	l.must("kubectl label namespace " + batch + " jobledger.dev/jobs=all")
	eventually(l.T, "the policy is in force", func() (bool, error) {
		out, err := run(l.Context(), nil, "kubectl -n "+batch+" create job probe --image=busybox:1.37 --dry-run=server -o jsonpath={.spec.managedBy} -- true")
		return out == "jobledger.dev/job-controller", err
	})
	l.job("nightly", "true", "")
	l.job("paused", "true", "suspend: true")
	sh(l.T, "kubectl -n "+batch+" wait --for=condition=complete job/nightly --timeout=120s")
	sh(l.T, "kubectl -n "+batch+" wait --for=condition=suspended job/paused --timeout=120s")
	l.job("report", "until test -e /stop/now; do sleep 0.1; done", "")
	sh(l.T, "kubectl -n "+batch+" wait --for=jsonpath={.status.ready}=1 job/report --timeout=120s")
}

// job makes a Job of one pod.
func (l *leaver) job(name, script, more string) {
	l.Helper()
	sh(l.T, `kubectl apply -f - <<EOF
apiVersion: batch/v1
kind: Job
metadata: {name: `+name+`, namespace: `+batch+`}
spec:
  `+more+`
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: "busybox:1.37", command: [sh, -c, "`+script+`"], volumeMounts: [{name: stop, mountPath: /stop}]}
      volumes: [{name: stop, hostPath: {path: "`+l.stop+`"}}]
EOF`)
}

// endReport makes the pod of the Job report end.
func (l *leaver) endReport() {
	l.Helper()
	if err := os.WriteFile(filepath.Join(l.stop, "now"), nil, 0o600); err != nil {
		l.Fatal(err)
	}
}

// steps returns the commands of docs/uninstall.md, in order.
func (l *leaver) steps() []console.Exchange {
	l.Helper()
	root, err := binaries.FindRoot()
	if err != nil {
		l.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "uninstall.md"))
	if err != nil {
		l.Fatal(err)
	}
	return console.Exchanges(string(text))
}

// waits matches the first line of release while the controller is still ending; the page describes it in words.
var waits = regexp.MustCompile(`(?m)^Lease jobledger/jobledger is held by \S+: waiting up to 15s to see whether that still runs\n`)

// byDrain runs the page's commands, one after the other, and compares their outputs with the page, except kubectl's.
func byDrain(l *leaver) {
	steps := l.steps()
	if len(steps) < 9 {
		l.Fatalf("docs/uninstall.md shows %d commands", len(steps))
	}
	for _, x := range steps {
		out := waits.ReplaceAllString(l.must(x.Command), "")
		if !strings.HasPrefix(x.Command, "kubectl ") && !x.SaysOfRelease(out) {
			l.Errorf("$ %s\ndocs/uninstall.md shows\n%s\nand it writes\n%s", x.Command, strings.Join(x.Output, "\n"), out)
		}
		if strings.Contains(x.Command, "rollout status") { // it drains
			sh(l.T, "sed 's/name: plain/name: late/' examples/plain.yaml | kubectl -n "+batch+" apply -f -")
			l.endReport()
		}
	}
	if got := sh(l.T, "kubectl -n "+batch+" get job report -o jsonpath={.status.succeeded}"); got != "1" {
		l.Errorf("the Job that ran: %q pods succeeded", got)
	}
	if got := sh(l.T, "kubectl -n "+batch+" get pods -l batch.kubernetes.io/job-name=late -o name"); got != "" {
		l.Errorf("the Job that came late has %s", got)
	}
}

// atOnce leaves without a drain, and first forgets the second step: the policy still creates Jobs for Jobledger.
func atOnce(l *leaver) {
	steps := l.steps()
	step := func(part string) string {
		l.Helper()
		i := slices.IndexFunc(steps, func(x console.Exchange) bool { return strings.Contains(x.Command, part) })
		if i < 0 {
			l.Fatalf("docs/uninstall.md shows no %q", part)
		}
		return steps[i].Command
	}
	if out, code := l.sh(step("release --let-go")); code != 1 || !strings.Contains(out, "a controller runs: ") {
		l.Errorf("beside a controller release says, with code %d,\n%s", code, out)
	}
	l.must(step("--replicas=0"))
	out, code := l.sh(step("release --let-go"))
	left := []string{"mutatingadmissionpolicy/jobledger-jobs", "mutatingadmissionpolicybinding/jobledger-jobs", "namespace/" + batch}
	for _, want := range append(left, "1 pod with a finalizer", "job/report", "job/paused", "3 objects that make more Jobs") {
		if code != 1 || !strings.Contains(out, want) {
			l.Errorf("release does not name %q; its code is %d", want, code)
		}
	}
	if got := sh(l.T, "kubectl -n "+batch+" get pods -o jsonpath='{.items[*].metadata.finalizers}'"); got != "" {
		l.Errorf("pods have finalizers %s", got)
	}
	sh(l.T, "sed '/managedBy/d; s/name: plain/name: orphan/' examples/plain.yaml | kubectl -n "+batch+" apply -f -")
	if got := l.managedBy("orphan"); got == "" {
		l.Error("the policy is not in force any more")
	}
	l.must(step("delete -f deploy/policy"))
	l.must(step("label namespaces"))
	if out, code := l.sh(step("release --let-go")); code != 0 || !strings.Contains(out, "job/orphan") {
		l.Errorf("when the policy is gone release says, with code %d,\n%s", code, out)
	}
	eventually(l.T, "new Jobs are the built-in's", func() (bool, error) {
		sh(l.T, "kubectl -n "+batch+" delete job free --ignore-not-found")
		sh(l.T, "sed '/managedBy/d; s/name: plain/name: free/' examples/plain.yaml | kubectl -n "+batch+" apply -f -")
		return l.managedBy("free") == "", nil
	})
	l.endReport() // it ran all the time
	sh(l.T, "kubectl -n "+batch+" wait --for=jsonpath={.status.phase}=Succeeded pod -l batch.kubernetes.io/job-name=report --timeout=120s")
	l.must(step("delete -k deploy"))
}

func (l *leaver) managedBy(job string) string {
	l.Helper()
	return sh(l.T, "kubectl -n "+batch+" get job "+job+" -o jsonpath={.spec.managedBy}")
}
