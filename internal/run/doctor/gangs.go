package doctor

import (
	"context"
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// The API versions of Workloads and PodGroups: betaWorkloads in Kubernetes 1.37, alphaWorkloads in 1.36 (withAlpha).
const betaWorkloads = "scheduling.k8s.io/v1beta1"

var (
	alphaWorkloads = v1alpha2.GroupVersion.String()
	withAlpha      = version.MajorMinor(1, 36)
)

// served reports whether the server has PodGroups in this version of the API group; of is the group and version. The
// group alone proves nothing, because it also contains PriorityClasses.
func served(c *Config, of string) bool {
	list, err := c.Client.Discovery().ServerResourcesForGroupVersion(of)
	if err != nil {
		return false
	}
	for _, r := range list.APIResources {
		if r.Name == "podgroups" {
			return true
		}
	}
	return false
}

// workloads checks whether the server has the objects for gang scheduling.
func workloads(c *Config) []Finding {
	switch {
	case !gangs(c) || served(c, betaWorkloads):
		return nil
	case !served(c, alphaWorkloads):
		return []Finding{{
			Level: Problem, Text: "the server has no Workloads and PodGroups (" + betaWorkloads + "), which --gang-scheduling makes; run with the flag ends at once",
			Do: "switch on the feature gate GenericWorkload and that API, which Kubernetes 1.37 has, or run without --gang-scheduling",
		}}
	case c.Settings.Gangs == events.GangsAsked:
		return []Finding{{
			Level: Problem, Text: "with " + alphaWorkloads + " no Job can ask for a gang; run with --gang-scheduling=asked ends at once",
			Do: "run with --gang-scheduling=all, or upgrade to Kubernetes 1.37",
		}}
	}
	return nil
}

// schedulingKept tests by a dry-run create whether the server keeps spec.scheduling. Without the field no Job can ask
// for a gang.
func schedulingKept(ctx context.Context, c *Config) []Finding {
	if !gangs(c) || !served(c, betaWorkloads) {
		return nil
	}
	job := everyField()
	job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
		Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
	}}
	namespace := c.Settings.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	made, err := c.Client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("whether the server keeps spec.scheduling of a Job: %v", err)}}
	}
	if made.Spec.Scheduling != nil {
		return nil
	}
	return []Finding{{
		Level: Warning, Text: "the server drops spec.scheduling from new Jobs, so none can ask for a gang: all get a PodGroup whose pods are scheduled one by one",
		Do: "switch on the feature gate WorkloadWithJob of kube-apiserver",
	}}
}

// alphaGroups counts the Workloads and PodGroups of Kubernetes 1.36, whoever created them. Kubernetes 1.37 does not
// have this API version, and cannot read the objects of it that are left in etcd.
func alphaGroups(ctx context.Context, c *Config, v *version.Version) []Finding {
	if !v.EqualTo(withAlpha) || !served(c, alphaWorkloads) {
		return nil
	}
	total, counts := 0, map[string]int{}
	for _, resource := range []string{"workloads", "podgroups"} {
		n, err := countRaw(ctx, c, "/apis/"+alphaWorkloads+"/"+resource)
		if err != nil {
			return []Finding{{Level: Unknown, Text: fmt.Sprintf("how many %s of %s there are: %v", resource, alphaWorkloads, err)}}
		}
		counts[resource], total = n, total+n
	}
	if total == 0 {
		return nil
	}
	return []Finding{{
		Level: Warning, Text: fmt.Sprintf("%s and %s of %s, which Kubernetes 1.37 does not have: they must go before the API server is upgraded",
			many(counts["workloads"], "Workload", "Workloads"), many(counts["podgroups"], "PodGroup", "PodGroups"), alphaWorkloads),
		Do: "run without --gang-scheduling, let the Jobs with gangs end (a PodGroup in which pods run cannot go), and then: " +
			"kubectl delete podgroups.v1alpha2.scheduling.k8s.io --all --all-namespaces; " +
			"kubectl delete workloads.v1alpha2.scheduling.k8s.io --all --all-namespaces",
	}}
}

// countRaw returns the number of objects in the list at path. It reads the first page, and adds the server's count of
// the remaining objects.
func countRaw(ctx context.Context, c *Config, path string) (int, error) {
	read := c.Raw
	if read == nil {
		read = func(ctx context.Context, path string) ([]byte, error) {
			return c.Client.Discovery().RESTClient().Get().RequestURI(path).SetHeader("Accept", "application/json").DoRaw(ctx)
		}
	}
	raw, err := read(ctx, path+"?limit=500")
	if err != nil {
		return 0, err
	}
	var list struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return 0, fmt.Errorf("read the answer of the API server: %w", err)
	}
	n := len(list.Items)
	if list.Metadata.RemainingItemCount != nil {
		n += int(*list.Metadata.RemainingItemCount)
	}
	return n, nil
}
