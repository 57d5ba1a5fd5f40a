package metrics

import (
	"cmp"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	contractRow = regexp.MustCompile("(?m)^\\| `((?:job|ttl_after_finished|cronjob)_controller_\\w+)` \\| (counter|histogram)[^|]*\\| ([^|]*) \\|")
	description = regexp.MustCompile(`fqName: "(\w+)".* variableLabels: {([^}]*)}`)
)

// O-075: names, types and labels of the built-in Job, TTL and CronJob controllers' metrics are as the contract has
// them, and no other has their prefix.
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
		if !strings.Contains(reflect.TypeOf(c).String(), "Counter") {
			kind = "histogram"
		}
		descriptions := make(chan *prometheus.Desc, 1)
		c.Describe(descriptions)
		m := description.FindStringSubmatch((<-descriptions).String())
		got[m[1]] = kind + " of " + cmp.Or(m[2], "-") // "-" is how the contract writes that there are none
	}
	if len(want) != 12 || !maps.Equal(got, want) {
		t.Errorf("got %q\nwant %q", slices.Sorted(maps.Keys(got)), want)
	}
}
