package metrics

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	contractRow = regexp.MustCompile("(?m)^\\| `(job_controller_\\w+)` \\| (counter|histogram)[^|]*\\| ([^|]*) \\|")
	description = regexp.MustCompile(`fqName: "(\w+)".* variableLabels: {([^}]*)}`)
)

// O-075: names, types and labels of the built-in Job controller's metrics are as the contract has them, and no other has its prefix.
func TestMetricsAreThoseOfTheContract(t *testing.T) {
	text, err := os.ReadFile("../../docs/contract/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, m := range contractRow.FindAllStringSubmatch(string(text), -1) {
		want[m[1]] = m[2] + " of " + strings.ReplaceAll(m[3], " ", "")
	}
	got := map[string]string{}
	for _, c := range New().all {
		kind := "counter"
		if _, ok := c.(*prometheus.HistogramVec); ok {
			kind = "histogram"
		}
		descriptions := make(chan *prometheus.Desc, 1)
		c.Describe(descriptions)
		m := description.FindStringSubmatch((<-descriptions).String())
		got[m[1]] = kind + " of " + m[2]
	}
	if len(want) != 10 || !maps.Equal(got, want) {
		t.Errorf("got %q\nwant %q", slices.Sorted(maps.Keys(got)), want)
	}
}
