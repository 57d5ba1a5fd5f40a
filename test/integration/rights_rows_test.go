package integration

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// feature is a value of the chart, other than the default, that changes the rights or the requests to the API server.
type feature struct {
	value string   // its path in the values
	set   string   // YAML; NAMESPACE stands for the namespace of the test's Jobs
	modes []string // modes in which it matters; empty: all
}

// The chart refuses observeOthers and gangScheduling in other modes. In them ttlAfterFinished has nothing to turn off.
var features = []feature{
	{value: "observeOthers", set: "observeOthers: true", modes: []string{"delegated"}},
	{value: "watchNamespace", set: "watchNamespace: NAMESPACE"},
	{value: "ttlAfterFinished", set: "ttlAfterFinished: false", modes: []string{"all"}},
	{value: "cronJobs", set: "cronJobs: false"},
	{value: "gangScheduling", set: "gangScheduling: true", modes: []string{"delegated", "all"}},
	{value: "watchCluster", set: "watchCluster: false"},
	{value: "metrics.authorize", set: "metrics: {authorize: true, tlsSecret: metrics-tls}"},
}

// rightsRow is one way to install the chart.
type rightsRow struct {
	mode     string
	features []feature // none, one or two
}

// rightsRows are each mode with default values, with every single feature, and with all pairs of features.
func rightsRows() (rows []rightsRow) {
	for _, mode := range []string{"delegated", "all", "observe"} {
		rows = append(rows, rightsRow{mode: mode})
		var here []feature
		for _, f := range features {
			if len(f.modes) == 0 || slices.Contains(f.modes, mode) {
				here = append(here, f)
			}
		}
		for i, f := range here {
			rows = append(rows, rightsRow{mode, []feature{f}})
			for _, g := range here[i+1:] {
				rows = append(rows, rightsRow{mode, []feature{f, g}})
			}
		}
	}
	return rows
}

func (r rightsRow) String() string {
	words := []string{r.mode}
	for _, f := range r.features {
		words = append(words, f.value)
	}
	return strings.Join(words, "+")
}

// values returns the values of the chart, for Jobs in a namespace.
func (r rightsRow) values(namespace string) string {
	lines := []string{"manage: " + r.mode}
	for _, f := range r.features {
		lines = append(lines, strings.ReplaceAll(f.set, "NAMESPACE", namespace))
	}
	return strings.Join(lines, "\n")
}

func (r rightsRow) has(value string) bool {
	return slices.ContainsFunc(r.features, func(f feature) bool { return f.value == value })
}

func (r rightsRow) works() bool { return r.mode != "observe" }

// deeds returns the actions that need rights, in addition to running one Job.
func (r rightsRow) deeds() []func(*installation) {
	var all []func(*installation)
	if r.works() {
		all = append(all, runsJobs, renews) // an observer holds no Lease
	}
	if r.mode == "all" && !r.has("cronJobs") {
		all = append(all, runsCronJobs)
	}
	if r.mode == "all" && !r.has("ttlAfterFinished") {
		all = append(all, expires)
	}
	if r.has("metrics.authorize") {
		all = append(all, asksWhoReads)
	}
	return all
}

// TestEveryFeatureHasItsRows: each true-or-false value of the chart is one of the features above, or changes no right.
func TestEveryFeatureHasItsRows(t *testing.T) {
	t.Parallel()
	if rows := rightsRows(); len(rows) != 22+22+11 {
		t.Errorf("there are %d rows", len(rows))
	}
	root, err := binaries.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy", "chart", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	others := []string{
		"nats: {url: 'nats://nats:4222', cluster: a, caSecret: a, credsSecret: b}",
		"ha: {enabled: true, mode: replicate, url: 'nats://nats:4222', assumeSynced: true}", // its values go together
	}
	for _, path := range switches("", values) {
		// TestOverlays tests a reader, whose rights are in its own namespace.
		if path == "reader.enabled" || strings.HasPrefix(path, "ha.") {
			continue
		}
		if !slices.ContainsFunc(features, func(f feature) bool { return f.value == path }) {
			group, name, nested := strings.Cut(path, ".")
			if nested {
				others = append(others, fmt.Sprintf("%s: {%s: true}", group, name))
			}
		}
	}
	if len(others) < 5 {
		t.Errorf("the chart has no more than %q to turn on", others)
	}
	with, without := chart(t, "rights", strings.Join(others, "\n")), chart(t, "rights", "")
	if got, want := granted(t, with), granted(t, without); !slices.EqualFunc(got, want, grant.equal) {
		t.Errorf("with %q the rights are %v, and without %v: one of them is a feature to try", others, got, want)
	}
}

// switches returns the paths of the values that are true or false.
func switches(under string, values map[string]any) (paths []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch v := values[name].(type) {
		case bool:
			paths = append(paths, under+name)
		case map[string]any:
			paths = append(paths, switches(under+name+".", v)...)
		}
	}
	return paths
}

func chart(t *testing.T, name, values string) []unstructured.Unstructured {
	t.Helper()
	objects, err := deployed.Chart(t.Context(), name, values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
