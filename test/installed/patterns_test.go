//go:build linux

package installed

import (
	"slices"
	"strings"
	"testing"
)

const items = "apple banana cherry date elder"

// pattern is an example of examples/patterns, with the expected output of its pods.
type pattern struct {
	name  string
	start string // commands
	jobs  string // the Jobs that must complete
	pods  string // selector of the pods with the output
	says  string // the lines of all pods, sorted
	many  string // number of succeeded pods, if it is fixed
	end   string // commands
}

var allPatterns = []pattern{
	{
		name: "static assignment by index", start: "kubectl apply -f examples/patterns/static-assignment.yaml",
		jobs: "static-assignment", pods: "batch.kubernetes.io/job-name=static-assignment", many: "3",
		says: "working on apple, working on banana, working on cherry",
		end:  "kubectl delete -f examples/patterns/static-assignment.yaml",
	},
	{
		name: "template expansion", jobs: "expansion-apple expansion-banana expansion-cherry", pods: "jobgroup=expansion", many: "1",
		start: `for item in apple banana cherry; do
  echo ---; sed "s/\$ITEM/$item/g" examples/patterns/expansion.yaml
done | kubectl apply -f -`,
		says: "working on apple, working on banana, working on cherry",
		end:  "kubectl delete jobs -l jobgroup=expansion",
	},
	{
		name: "one pod per work item", start: queueThen("pod-per-item"), jobs: "pod-per-item",
		pods: "batch.kubernetes.io/job-name=pod-per-item", many: "5", says: workingOn(items),
		end: "kubectl delete -f examples/patterns/pod-per-item.yaml -f examples/patterns/queue.yaml",
	},
	{
		name: "work queue with a variable number of pods", start: queueThen("variable-pods"), jobs: "variable-pods",
		pods: "batch.kubernetes.io/job-name=variable-pods", says: workingOn(items),
		end: "kubectl delete -f examples/patterns/variable-pods.yaml -f examples/patterns/queue.yaml",
	},
	{
		name: "pods that talk to each other", start: "kubectl apply -f examples/patterns/pod-to-pod.yaml", jobs: "pod-to-pod",
		pods: "batch.kubernetes.io/job-name=pod-to-pod", many: "3", says: "hello from pod-to-pod-1, hello from pod-to-pod-2",
		end: "kubectl delete -f examples/patterns/pod-to-pod.yaml",
	},
	{
		name: "a Job that starts a controller pod", start: "kubectl apply -f examples/patterns/controller-pod.yaml", jobs: "controller-pod",
		pods: "started-by=controller-pod", many: "1", says: "working as 0, working as 1, working as 2",
		end: "kubectl delete -f examples/patterns/controller-pod.yaml",
	},
}

func queueThen(name string) string {
	return "kubectl apply -f examples/patterns/queue.yaml && kubectl wait --for=condition=Ready pod/queue --timeout=120s && " +
		"kubectl apply -f examples/patterns/" + name + ".yaml"
}

func workingOn(items string) string {
	return "working on " + strings.Join(strings.Fields(items), ", working on ")
}

// patterns runs the examples of the patterns in the Kubernetes documentation. A container works on each item, once.
func patterns(t *testing.T) {
	for _, p := range allPatterns {
		t.Run(p.name, func(t *testing.T) {
			sh(t, p.start)
			for job := range strings.FieldsSeq(p.jobs) {
				if _, err := try(t, "kubectl wait --for=condition=complete job/"+job+" --timeout=180s"); err != nil {
					tell(t, job, p.pods)
					t.Fatalf("%s does not complete", job)
				}
				if got := sh(t, "kubectl get job "+job+" -o jsonpath={.status.succeeded}"); p.many != "" && got != p.many {
					t.Errorf("%s: %s pods have succeeded, want %s", job, got, p.many)
				}
			}
			lines := strings.Split(strings.TrimSpace(sh(t, "kubectl logs --tail=-1 -l "+p.pods)), "\n")
			slices.Sort(lines)
			if got := strings.Join(lines, ", "); got != p.says {
				t.Errorf("the pods said %q, want %q", got, p.says)
				for job := range strings.FieldsSeq(p.jobs) {
					tell(t, job, p.pods)
				}
			}
			sh(t, p.end+" --timeout=120s")
			sh(t, "kubectl wait --for=delete pod -l '"+p.pods+"' --timeout=120s")
		})
	}
}

// tell prints everything about a Job that went wrong: its tries, the output of their containers, and the log.
func tell(t *testing.T, job, pods string) {
	t.Helper()
	of := "batch.kubernetes.io/job-name=" + job
	_, _ = try(t, "kubectl describe job/"+job+"; kubectl get pods -o wide; kubectl describe pods -l "+of)
	_, _ = try(t, "kubectl logs --prefix --tail=-1 -l "+of+"; kubectl logs --prefix --tail=-1 -l "+pods)
	_, _ = try(t, "kubectl -n jobledger exec jobledger-0 -- jobledger attempts job/"+job+" --log /var/lib/jobledger/log")
	_, _ = try(t, "kubectl -n jobledger exec jobledger-0 -- jobledger events job/"+job+" --log /var/lib/jobledger/log")
}
