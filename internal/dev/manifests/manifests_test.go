package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const deploy = "../../../deploy"

// TestTheManifestsAreThoseOfTheChart: the stored manifests equal the output of the chart.
func TestTheManifestsAreThoseOfTheChart(t *testing.T) {
	files, err := manifests(filepath.Join(deploy, "chart"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		text, err := os.ReadFile(filepath.Join(deploy, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Errorf("deploy/%s is not what the chart gives; renew it with 'make manifests':\n%s", name, diff)
		}
	}
}

// TestTheBaseIsTheChart: 'kubectl apply -k deploy' and 'helm install' with the values of the chart make the same
// objects.
func TestTheBaseIsTheChart(t *testing.T) {
	compare(t, deploy, base)
}

// TestOverlays: each overlay, built by kustomize, has the same objects as the chart with the overlay's values.
func TestOverlays(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(deploy, "overlays", "*"))
	if err != nil || len(dirs) < 6 {
		t.Fatalf("%d overlays: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			values, err := os.ReadFile(filepath.Join(dir, "values.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, dir, base+string(values))
		})
	}
}

func compare(t *testing.T, dir, values string) {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := render(filepath.Join(deploy, "chart"), release, values)
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.Join(slices.Collect(maps.Values(rendered)), "---\n")
	objectsBuilt := objects(t, string(text))
	beside := len(objectsBuilt)
	maps.DeleteFunc(objectsBuilt, func(_ string, o any) bool { return isNATS(o) })
	if beside -= len(objectsBuilt); beside > 0 != strings.HasSuffix(dir, "nats-log") {
		t.Errorf("%d objects are of NATS servers", beside)
	}
	if named := configOfNATS.FindAllString(string(text), -1); beside > 0 && (len(named) != 2 || named[0] != named[1]) {
		t.Errorf("the ConfigMap of the NATS servers, and the one that they mount, are %q", named)
	}
	if diff := cmp.Diff(objects(t, joined), objectsBuilt); diff != "" {
		t.Errorf("-chart +kustomize:\n%s", diff)
	}
}

// configOfNATS matches the name of the ConfigMap of the NATS servers, which ends with a hash of its content.
var configOfNATS = regexp.MustCompile(`name: jobledger-nats-[0-9a-z]{10}\n`)

// isNATS reports whether an object is of the NATS servers of an overlay, which the chart does not have.
func isNATS(object any) bool {
	metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	return labels["app.kubernetes.io/name"] == "jobledger-nats"
}

// objects returns the objects of a text, by kind and name.
func objects(t *testing.T, text string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for document := range strings.SplitSeq(text, "---\n") {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		var whole any
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if err := yaml.Unmarshal([]byte(document), &whole); err != nil {
			t.Fatal(err)
		}
		if o.Kind != "" {
			all[o.Kind+"/"+o.Metadata.Name] = whole
		}
	}
	return all
}

// TestAlertsAndDashboard: the objects of the Prometheus operator and of Grafana have the contents of the chart's files.
func TestAlertsAndDashboard(t *testing.T) {
	rendered, err := render(filepath.Join(deploy, "chart"), release, "{alerts: {enabled: true, labels: {release: a}}, dashboard: {enabled: true}}")
	if err != nil {
		t.Fatal(err)
	}
	var file, spec, rule, dashboard map[string]any
	text, err := os.ReadFile(filepath.Join(deploy, "chart", "monitoring", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for text, into := range map[string]*map[string]any{
		string(text): &file, rendered["prometheusrule.yaml"]: &rule, rendered["dashboard.yaml"]: &dashboard,
	} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	spec, _ = rule["spec"].(map[string]any)
	if diff := cmp.Diff(file, spec); diff != "" {
		t.Errorf("the PrometheusRule is not the file (-file +rule):\n%s", diff)
	}
	want, err := os.ReadFile(filepath.Join(deploy, "chart", "monitoring", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	data, _ := dashboard["data"].(map[string]any)
	if got := data["jobledger.json"]; got != strings.TrimRight(string(want), "\n") {
		t.Errorf("the ConfigMap is not the file: %.200s", got)
	}
}

// TestTheChartAsksForAnImage: our image is in no public registry, so the chart refuses values without an image name.
func TestTheChartAsksForAnImage(t *testing.T) {
	for _, values := range []common.Values{{}, {"image": map[string]any{"tag": "v1"}}, {"image": map[string]any{"repository": ""}}} {
		if _, err := renderWith(filepath.Join(deploy, "chart"), release, values); err == nil || !strings.Contains(err.Error(), "image.repository: name the image") {
			t.Errorf("with %v: %v", values, err)
		}
	}
	for _, policy := range []string{"Always", "IfNotPresent", "Never"} {
		files, err := renderWith(filepath.Join(deploy, "chart"), release, common.Values{"image": map[string]any{"repository": "r.example/j", "pullPolicy": policy}})
		if err != nil {
			t.Fatal(err)
		}
		if text := files["statefulset.yaml"]; !strings.Contains(text, "image: r.example/j\n") || !strings.Contains(text, "imagePullPolicy: "+policy+"\n") {
			t.Errorf("with the policy %s:\n%s", policy, text)
		}
	}
}

// Values that make several controllers, and leave to the chart what it can make.
const (
	ha     = "ha: {enabled: true}"
	haNATS = "ha: {enabled: true, mode: replicate, url: 'nats://a:4222', monitorUrl: 'http://a:8222'}"
)

// TestValuesAreChecked: a mistake in the values is refused, and the message names it.
func TestValuesAreChecked(t *testing.T) {
	for _, row := range []struct{ values, says string }{
		{"manage: everything", "manage"},
		{"mange: all", "mange"},
		{"{manage: all, observeOthers: true}", "manage"},
		{"{manage: observe, gangScheduling: true}", "manage"},
		{"metrics: {authorize: true}", "tlsSecret"},
		{"log: {maxSize: 8 GB}", "maxSize"},
		{"log: {volume: {accessMode: ReadWriteMany}}", "accessMode"},
		{"extraArgs: [--drain, drain]", "extraArgs"},
		{"log: {maxSize: 10Gi}", "log.maxSize: 10Gi must be less than log.volume.size, which is 10Gi"},
		{"log: {volume: {size: 8192Mi}}", "log.maxSize: 8Gi must be less than log.volume.size, which is 8192Mi"},
		{"log: {maxSize: 2Ti, volume: {size: 900Gi}}", "log.maxSize: 2Ti must be less"},
		{"log: {maxSize: 1Mi}", "log.maxSize: 1Mi is too small: give 16Mi or more"},
		{"nats: {credsSecret: user}", "nats.credsSecret goes with nats.url"},
		{"nats: {caSecret: ca}", "nats.caSecret goes with nats.url"},
		{"reader: {enabled: true}", "reader.enabled goes with metrics.tlsSecret"},
		{"metrics: {tlsSecret: a}\nreader: {enabled: true, namespace: jobledger}", "reader.namespace is that of the"},
		{"ha: {enabled: true, mode: replicate}", "ha.mode: replicate goes with ha.url"},
		{"ha: {enabled: true, mode: replicate, url: 'nats://a:4222'}", "ha.mode: replicate goes with ha.monitorUrl"},
		{strings.Replace(haNATS, "enabled: true", "enabled: true, assumeSynced: true", 1), "one of the two"},
		{"ha: {enabled: true, mode: replicate, url: 'nats://u:p@a:4222', assumeSynced: true}", "url"},
		{"ha: {enabled: true, mode: replicate, url: 'nats://a:4222', monitorUrl: 'a:8222'}", "monitorUrl"},
		{strings.Replace(haNATS, "enabled: true", "enabled: true, replicas: 1", 1), "ha.replicas: with 1 nobody takes over"},
		{"ha: {enabled: true, replicas: 1}", "ha.replicas: with 1 nobody takes over"},
		{"ha: {enabled: true, replicas: 4}", "ha.replicas: 4 are too many for ha.mode: follow"},
		{"ha: {enabled: true, mode: shared}", "mode"},
		{"ha: {enabled: true, url: 'nats://a:4222'}", "ha.url goes with ha.mode: replicate, and the mode is follow"},
		{"ha: {enabled: true, monitorUrl: 'http://a:8222'}", "ha.monitorUrl goes with ha.mode: replicate"},
		{"ha: {enabled: true, assumeSynced: true}", "ha.assumeSynced goes with ha.mode: replicate"},
		{"ha: {enabled: true, credsSecret: user}", "ha.credsSecret goes with ha.mode: replicate"},
		{"ha: {enabled: true, caSecret: ca}", "ha.caSecret goes with metrics.tlsSecret"},
		{"reader: {enabled: true}\n" + ha, "reader.enabled goes with metrics.tlsSecret"},
		{"manage: observe\n" + ha, "ha.enabled does not go with manage: observe"},
		{"copy: {url: 's3://b/x'}\n" + ha, "ha.enabled does not go with copy.url"},
		{"manage: observe\n" + haNATS, "ha.enabled does not go with manage: observe"},
		{"copy: {url: 's3://b/x'}\n" + haNATS, "ha.enabled does not go with copy.url"},
	} {
		if _, err := render(filepath.Join(deploy, "chart"), release, row.values); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v; want an error that says %s", row.values, err, row.says)
		}
	}
	for _, values := range []string{
		"log: {maxSize: 0Gi}", "log: {maxSize: 200Mi, volume: {size: 1Gi}}", "log: {maxSize: 1Ti, volume: {size: 1025Gi}}",
		"nats: {url: 'nats://nats:4222', caSecret: ca, credsSecret: user}", "ha: {enabled: true, replicas: 3}",
		"metrics: {authorize: true}\n" + ha,
	} {
		if _, err := render(filepath.Join(deploy, "chart"), release, values); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// TestEveryCombinationRenders: every mode with every feature gives objects that parse, with exactly the rights of the
// enabled features.
func TestEveryCombinationRenders(t *testing.T) {
	const metrics, reader = "metrics: {authorize: true, tlsSecret: any}", "reader: {enabled: true}"
	rights := map[string][]string{ // a word of them, and the features that have it
		"podgroups":    {"gangScheduling: true"},
		"tokenreviews": {metrics, reader, ha},
		"nodes":        {"watchCluster: true"},
		"- /v1/\n":     {reader, ha},
	}
	features := []string{
		"gangScheduling: true", metrics, "watchCluster: true", reader, ha, haNATS,
		"watchNamespace: team-a", "ttlAfterFinished: false", "cronJobs: false", "networkPolicy: {enabled: true}", "serviceMonitor: {enabled: true}",
		"alerts: {enabled: true}", "drill: {schedule: '17 4 * * 1', from: 's3://bucket/x', secret: keys}", "dashboard: {enabled: true}",
		"nats: {url: 'nats://nats:4222'}", "podLabels: {a: b}", "serviceAccountAnnotations: {a: b}", "tolerations: [{operator: Exists}]",
	}
	for _, mode := range []string{"manage: delegated", "manage: all", "manage: observe"} {
		for i := range features {
			for j := i; j < len(features); j++ {
				on := slices.Compact([]string{features[i], features[j]})
				several := slices.Contains(on, ha) || slices.Contains(on, haNATS)
				if mode == "manage: observe" && (slices.Contains(on, "gangScheduling: true") || several) ||
					slices.Equal(on, []string{ha, haNATS}) {
					continue
				}
				values := mode + "\n" + strings.Join(on, "\n") + "\n"
				if !slices.Contains(on, "watchCluster: true") {
					values += "watchCluster: false\n"
				}
				if slices.Contains(on, reader) && !slices.Contains(on, metrics) {
					values += "metrics: {tlsSecret: any}\n"
				}
				rendered, err := render(filepath.Join(deploy, "chart"), release, values)
				if err != nil {
					t.Fatalf("%s: %v", values, err)
				}
				text := strings.Join(slices.Collect(maps.Values(rendered)), "---\n")
				all := objects(t, text)
				given, err := yaml.Marshal(all)
				if err != nil {
					t.Fatal(err)
				}
				for right, features := range rights {
					want := slices.ContainsFunc(features, func(f string) bool { return slices.Contains(on, f) })
					if got := strings.Contains(string(given), right); got != want {
						t.Errorf("%s: the rights have %q: %v, want %v", values, right, got, want)
					}
				}
				if got, want := strings.Contains(string(given), "- delete\n"), mode != "manage: observe"; got != want {
					t.Errorf("%s: may delete: %v, want %v", values, got, want)
				}
				for right, want := range map[string]bool{
					"- cronjobs\n": true, "- cronjobs/status\n": mode == "manage: all", "--cronjobs=false": false,
				} {
					if slices.Contains(on, "cronJobs: false") {
						want = right == "--cronjobs=false"
					}
					if got := strings.Contains(string(given), right); got != want {
						t.Errorf("%s: has %q: %v, want %v", values, right, got, want)
					}
				}
				if _, cluster := all["ClusterRole/jobledger"]; cluster == slices.Contains(on, "watchNamespace: team-a") {
					t.Errorf("%s: a ClusterRole: %v", values, cluster)
				}
			}
		}
	}
}
