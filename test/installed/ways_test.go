//go:build linux

package installed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/node"
)

// class is the cluster's default StorageClass, for volumes of the pages without a class.
const class = `
kubectl apply -f - <<EOF
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: local
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: kubernetes.io/no-provisioner
EOF
`

// TestDocumentedWays runs the Helm and kustomize commands of the pages as they stand there, from the installation
// through an upgrade to a cluster without remains.
func TestDocumentedWays(t *testing.T) {
	node.Need(t)
	all, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	for name, helm := range map[string]bool{"Helm": true, "manifests": false} {
		t.Run(name, func(t *testing.T) {
			w := newWay(t, helm)
			for _, b := range all {
				if b.helm() == helm {
					w.run(b)
				}
			}
			w.nothingLeft()
		})
	}
	t.Run("overlays", overlays)
}

// way is an installation with Helm or with the manifests.
type way struct {
	t      *testing.T
	root   string // of a copy of the repository: kustomize writes into it
	before []string
	volume string

	helm     bool
	versions []string // installed so far, in order
	jobs     int
}

func newWay(t *testing.T, helm bool) *way {
	t.Helper()
	w := &way{t: t, helm: helm, root: copyOfRoot(t), volume: t.TempDir()}
	sh(t, "kubectl wait --for=create -n default serviceaccount/default --timeout=60s")
	sh(t, "kubectl wait --for=create -n kube-node-lease lease/"+node.Name+" --timeout=60s")
	w.before = objects(t)
	if err := os.Chmod(w.volume, 0o755); err != nil {
		t.Fatal(err)
	}
	sh(t, class)
	sh(t, strings.NewReplacer("DIR", w.volume, "NODE", node.Name, "SIZE", "10Gi").Replace(volume))
	return w
}

// copyOfRoot copies the files that the pages name.
func copyOfRoot(t *testing.T) string {
	t.Helper()
	root, err := binaries.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"deploy", "examples"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (w *way) sh(line string) string {
	w.t.Helper()
	return sh(w.t, "cd "+w.root+"\n"+line)
}

// run runs the commands of a block, and checks their result.
func (w *way) run(b block) {
	w.t.Helper()
	var job string
	if len(w.versions) > 0 && b.page != "docs/uninstall.md" {
		job = w.startJob()
	}
	for _, command := range b.commands {
		w.sh(command)
	}
	if b.page == "docs/uninstall.md" {
		return // nothingLeft checks it
	}
	w.note(b)
	for _, line := range shown(w.t, "docs/upgrade.md", "4. See it become ready:") {
		w.sh(line)
	}
	w.runsVersion()
	if job == "" {
		jobRuns(w.t)
		return
	}
	sh(w.t, "kubectl wait --for=condition=complete job/"+job+" --timeout=180s")
	if out := sh(w.t, "kubectl -n jobledger exec jobledger-0 -- jobledger explain job/"+job+" --log /var/lib/jobledger/log"); !strings.Contains(out, "1 pod succeeded") {
		w.t.Errorf("after %s: %s", b, out)
	}
	sh(w.t, "kubectl delete job "+job+" --timeout=60s")
}

// startJob starts a Job that runs while the program is replaced.
func (w *way) startJob() string {
	w.t.Helper()
	w.jobs++
	name := fmt.Sprintf("meanwhile-%d", w.jobs)
	w.sh(`sed 's/name: plain/name: ` + name + `/; s/sleep 0.5/sleep 8/' examples/plain.yaml | kubectl apply -f -`)
	sh(w.t, "kubectl wait --for=jsonpath={.status.ready}=1 job/"+name+" --timeout=120s")
	return name
}

var goesBack = regexp.MustCompile(`^helm rollback `)

// note notes which version is installed after the block: the one that it names, or the one before.
func (w *way) note(b block) {
	w.t.Helper()
	_, tags := images([]block{b})
	switch n := len(w.versions); {
	case len(tags) == 1:
		w.versions = append(w.versions, tags[0])
	case n > 1 && slices.ContainsFunc(b.commands, goesBack.MatchString):
		w.versions = append(w.versions, w.versions[n-2])
	default:
		w.t.Fatalf("which version is there after %s?", b)
	}
}

// runsVersion checks that the pod runs the installed version, and that Helm has it as its newest release.
func (w *way) runsVersion() {
	w.t.Helper()
	want := w.versions[len(w.versions)-1]
	if got := sh(w.t, "kubectl -n jobledger exec jobledger-0 -- jobledger version"); !strings.Contains(got, want) {
		w.t.Errorf("it runs %q, want %s", got, want)
	}
	if !w.helm {
		return
	}
	var release struct {
		Version int
		Info    struct{ Status string }
	}
	if err := json.Unmarshal([]byte(sh(w.t, "helm status jobledger --namespace jobledger --output json")), &release); err != nil {
		w.t.Fatal(err)
	}
	if release.Info.Status != "deployed" || release.Version != len(w.versions) {
		w.t.Errorf("the release is %+v, want revision %d to be deployed", release, len(w.versions))
	}
}

// nothingLeft: the cluster is as it was before.
func (w *way) nothingLeft() {
	w.t.Helper()
	sh(w.t, "kubectl wait --for=delete namespace/jobledger --timeout=120s")
	sh(w.t, "kubectl wait --for=delete pod -l batch.kubernetes.io/job-name --timeout=120s")
	sh(w.t, "kubectl delete pv log --timeout=60s")
	sh(w.t, "kubectl delete storageclass local")
	compareObjects(w.t, w.before)
	if out := sh(w.t, "helm list --all-namespaces --short"); w.helm && strings.TrimSpace(out) != "" {
		w.t.Errorf("Helm still has %s", out)
	}
}

// overlays: an overlay in place of deploy, as docs/install.md says, applies, names the image, and can be removed.
func overlays(t *testing.T) {
	all, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(b block) bool { return b.page == "docs/install.md" && !b.helm() })
	name, tags := images(all[i : i+1])
	dir := copyOfRoot(t)
	names, err := filepath.Glob(filepath.Join(dir, "deploy", "overlays", "*"))
	if err != nil || len(names) < 6 {
		t.Fatal(names, err)
	}
	sh(t, "kubectl create namespace team-a") // deploy/overlays/namespace names it
	before := objects(t)
	for _, path := range names {
		overlay := "deploy/overlays/" + filepath.Base(path)
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, command := range all[i].commands {
				command = regexp.MustCompile(`\bdeploy\b`).ReplaceAllString(command, overlay)
				sh(t, "cd "+dir+"\n"+command)
			}
			if got := sh(t, "kubectl -n jobledger get statefulset jobledger -o jsonpath={.spec.template.spec.containers[0].image}"); got != name+":"+tags[0] {
				t.Errorf("its image is %s", got)
			}
			sh(t, "cd "+dir+"\nkubectl delete -k "+overlay+" --timeout=120s")
			compareObjects(t, before)
		})
	}
	sh(t, "kubectl delete namespace team-a --timeout=120s")
}
