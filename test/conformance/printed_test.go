//go:build linux

package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/node"
)

// TestKubectlPrintsTheSame: for Jobs and CronJobs of either contender, except for the named lines.
func TestKubectlPrintsTheSame(t *testing.T) {
	node.Need(t)
	all := map[string][]printout{}
	for _, contender := range []string{ours, builtin} {
		c, err := setting{contender: contender}.start(t.Context(), "kubectl")
		if err != nil {
			t.Fatal(err)
		}
		all[contender] = c.printed(t)
		if err := c.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range differences(all[ours], all[builtin]) {
		t.Error(d)
	}
}

// printed creates Jobs and a CronJob with kubectl, and returns what kubectl prints about them.
func (c *cluster) printed(t *testing.T) []printout {
	var all []printout
	for _, command := range commands {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+c.plane.Kubeconfig(), "HOME="+node.Dir(),
			"PATH="+filepath.Dir(c.plane.Program(binaries.Kubectl))+":"+os.Getenv("PATH"))
		cmd.Stdin = strings.NewReader(objects(busybox))
		out, err := cmd.CombinedOutput()
		t.Logf("$ %s\n%s", command, out)
		if err != nil {
			t.Error(err)
		}
		all = append(all, printout{command, plain(string(out))})
	}
	return all
}

// objects returns the Jobs and the CronJob; their pods run this image.
func objects(image string) string {
	job := func(name, spec, script string) string {
		return strings.NewReplacer("NAME", name, "SPEC", spec, "SCRIPT", script, "IMAGE", image).Replace(`
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: printed}
spec:
  SPEC
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 0
      containers:
      - {name: main, image: "IMAGE", command: [sh, -c, "SCRIPT"]}
---`)
	}
	return job("complete", "completions: 2", "echo done") +
		job("failed", "backoffLimit: 0", "exit 3") +
		job("late", "activeDeadlineSeconds: 3", "sleep 1000") +
		job("suspended", "suspend: true", "exit 0") +
		job("running", "parallelism: 2", "sleep 1000") +
		job("indexes", "completionMode: Indexed\n  completions: 3\n  parallelism: 3\n  backoffLimitPerIndex: 0", "test $JOB_COMPLETION_INDEX != 1") +
		strings.NewReplacer("IMAGE", image).Replace(`
apiVersion: batch/v1
kind: CronJob
metadata: {name: minutely, namespace: printed}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - {name: main, image: "IMAGE", command: [sh, -c, "exit 0"]}
`)
}

// commands are in order. The first one reads the objects.
var commands = []string{
	"kubectl create namespace printed && kubectl wait --for=create -n printed serviceaccount/default --timeout=120s && kubectl create -f -",
	"kubectl -n printed wait --for=condition=complete job/complete --timeout=180s",
	"kubectl -n printed wait --for=condition=failed job/failed job/late job/indexes --timeout=180s",
	"kubectl -n printed wait --for=condition=suspended job/suspended --timeout=180s",
	"kubectl -n printed wait --for=jsonpath={.status.ready}=2 job/running --timeout=180s",
	// One run of the CronJob, and no other.
	"kubectl -n printed wait --for=jsonpath={.status.lastSuccessfulTime} cronjob/minutely --timeout=180s && " +
		`kubectl -n printed patch cronjob minutely -p '{"spec":{"suspend":true}}'`,
	"kubectl -n printed get jobs complete failed late suspended running indexes",
	"kubectl -n printed get jobs complete failed late suspended running indexes -o wide",
	"kubectl -n printed get cronjobs",
	"kubectl -n printed get cronjobs -o wide",
	"kubectl -n printed describe job complete",
	"kubectl -n printed describe job failed",
	"kubectl -n printed describe job late",
	"kubectl -n printed describe job suspended",
	"kubectl -n printed describe job running",
	"kubectl -n printed describe job indexes",
	"kubectl -n printed describe cronjob minutely",
	"kubectl -n printed describe job $(kubectl -n printed get jobs -o name | grep -m 1 minutely | cut -d / -f 2)",
	"kubectl -n printed get jobs complete failed late suspended running indexes -o yaml",
	"kubectl -n printed get cronjobs -o yaml",
	"kubectl -n printed get pods -l batch.kubernetes.io/job-name=running -o yaml | sed -n '/^  metadata:/,/^  spec:/p'",
	"kubectl -n printed delete job running --timeout=120s",
	"kubectl -n printed wait --for=delete pod -l batch.kubernetes.io/job-name=running --timeout=120s",
	"kubectl delete namespace printed --timeout=180s",
}

// chance are the texts that differ between any two runs, with their replacements.
var chance = []struct{ what, stands string }{
	{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "UID"},
	{`minutely-[0-9]{8}`, "minutely-DUE"},
	{`\b(complete|failed|late|suspended|running|minutely-DUE)-[a-z0-9]{5}\b`, "$1-RANDOM"},
	{`\b(indexes-[0-9])-[a-z0-9]{5}\b`, "$1-RANDOM"},
	{`(resourceVersion"?: ?)"[0-9]+"`, `$1"N"`},
	{`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`, "TIME"},
	{`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} [+-][0-9]{4}`, "TIME"},
	{`\b([0-9]+m)?[0-9]+s\b|\b[0-9]+m\b`, "AGE"},
	{` \(x[0-9]+ over AGE\)`, ""},
	{` {2,}`, "  "}, // columns are as wide as their content
	{`-{3,}`, "---"},
}

// plain replaces the texts that differ between any two runs.
func plain(text string) string {
	for _, c := range chance {
		text = regexp.MustCompile(c.what).ReplaceAllString(text, c.stands)
	}
	return text
}
