//go:build linux

package installed

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/internal/oldlog"
	"github.com/jobledger/jobledger/test/node"
)

// pruner is a pod that prunes the log of a release with a stopped controller: the same image, user and volume.
const pruner = `
kubectl apply -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: prune, namespace: NAMESPACE}
spec:
  restartPolicy: Never
  securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: main
    image: jobledger:TAG
    args: [ARGS]
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: log, mountPath: /var/lib/jobledger}]
  volumes:
  - name: log
    persistentVolumeClaim: {claimName: log-NAMESPACE-0}
EOF
`

const inPodLog = "/var/lib/jobledger/log"

// TestOldRecordsArePruned: a volume has an old log, like a restored backup. As docs/operating.md says, old records are
// removed by the controller with log.maxAge, while Jobs run, or by prune while no controller writes the log. Beside a
// controller, prune refuses.
func TestOldRecordsArePruned(t *testing.T) {
	node.Need(t)
	r := newRelease(t, "pruned")
	head, err := oldlog.Write(filepath.Join(r.volume, "log"), 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	r.install("log: {maxSize: 16Mi}\n")
	r.ready()
	r.runs("before")
	for _, more := range []string{"--max-age=1h", "--max-age=1h --dry-run"} {
		out, err := try(t, "kubectl -n pruned exec pruned-0 -- jobledger prune --log "+inPodLog+" "+more)
		if err == nil || !strings.Contains(out, "it prunes the log itself, with --log-max-size and --log-max-age") {
			t.Errorf("beside a controller prune says %s, %v", out, err)
		}
	}

	r.stop()
	before := r.prunes("--log="+inPodLog, fmt.Sprintf("--before=%d", uint64(head)/2), "--dry-run")
	if !strings.Contains(before, " would go: ") {
		t.Errorf("a dry run says\n%s", before)
	}
	gone := r.prunes("--log="+inPodLog, fmt.Sprintf("--before=%d", uint64(head)/2))
	if strings.ReplaceAll(before, "would go", "are gone") != gone {
		t.Errorf("a dry run says\n%s, and then it is\n%s", before, gone)
	}
	r.start()
	r.runs("pruned-by-hand")
	first := r.begins()

	r.upgrade("log: {maxSize: 16Mi, maxAge: 1h}\n")
	sh(t, "kubectl -n pruned rollout status statefulset pruned --timeout=180s")
	for i := range 6 { // meanwhile
		r.runs(fmt.Sprintf("while-%d", i))
	}
	eventually(t, "what is older than an hour goes", func() (bool, error) { return r.begins() > uint64(head)*9/10, nil })
	r.runs("after")
	if last := r.begins(); first <= 1 || last <= first {
		t.Errorf("the log began with record %d after prune, and with %d in the end", first, last)
	}
	if out := r.exec("verify --log " + inPodLog); !strings.Contains(out, "pruned before ") {
		t.Errorf("verify says\n%s", out)
	}
	if out := r.exec("replay --log " + inPodLog); !strings.Contains(out, ", 0 divergences") {
		t.Errorf("replay says\n%s", out)
	}
	if entries, err := os.ReadDir(filepath.Join(r.volume, "log")); err != nil || len(entries) < 3 {
		t.Errorf("the volume has %v, %v", entries, err)
	}
}

// runs runs a Job to its end, and then runs explain.
func (r *release) runs(job string) {
	r.t.Helper()
	sh(r.t, "sed 's/name: plain/name: "+job+"/' examples/plain.yaml | kubectl apply -f -")
	sh(r.t, "kubectl wait --for=condition=complete job/"+job+" --timeout=180s")
	if out := r.exec("explain job/" + job + " --log " + inPodLog); !strings.Contains(out, "default/"+job+"  COMPLETE") {
		r.t.Errorf("explain says\n%s", out)
	}
	sh(r.t, "kubectl delete job "+job+" --timeout=60s")
}

var prunedBefore = regexp.MustCompile(`note: pruned before (\d+): `)

// begins returns the first record in the log.
func (r *release) begins() (first uint64) {
	r.t.Helper()
	out := r.exec("get jobs -A --limit 1 --log " + inPodLog)
	if m := prunedBefore.FindStringSubmatch(out); m == nil {
		return 1
	} else if _, err := fmt.Sscan(m[1], &first); err != nil {
		r.t.Fatal(err)
	}
	return first
}

// stop stops the controller, and start starts it again.
func (r *release) stop() {
	r.t.Helper()
	sh(r.t, "kubectl -n "+r.name+" scale statefulset "+r.name+" --replicas=0")
	sh(r.t, "kubectl -n "+r.name+" wait --for=delete pod/"+r.pod()+" --timeout=120s")
}

func (r *release) start() {
	r.t.Helper()
	sh(r.t, "kubectl -n "+r.name+" scale statefulset "+r.name+" --replicas=1")
	r.ready()
}

// prunes runs prune in its own pod, and returns its output.
func (r *release) prunes(args ...string) string {
	r.t.Helper()
	sh(r.t, strings.NewReplacer("NAMESPACE", r.name, "TAG", imageTag, "ARGS", `prune, "`+strings.Join(args, `", "`)+`"`).Replace(pruner))
	sh(r.t, "kubectl -n "+r.name+" wait --for=jsonpath={.status.phase}=Succeeded pod/prune --timeout=120s")
	out := sh(r.t, "kubectl -n "+r.name+" logs prune")
	sh(r.t, "kubectl -n "+r.name+" delete pod prune --timeout=60s")
	return out
}
