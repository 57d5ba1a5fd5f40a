package doctor

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/events"
)

// rulesOf reads the rules of a manifest.
func rulesOf(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("../../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	for document := range strings.SplitSeq(string(text), "---\n") {
		if !strings.Contains(document, "\nkind: ClusterRole\n") && !strings.Contains(document, "\nkind: Role\n") {
			continue
		}
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
	}
	var all []string
	for _, r := range role.Rules {
		for _, path := range r.NonResourceURLs {
			all = append(all, fmt.Sprintf("%s %s", strings.Join(r.Verbs, ","), path))
		}
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					all = append(all, fmt.Sprintf("%s %s/%s %s", verb, group, resource, strings.Join(r.ResourceNames, ",")))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestTheRightsAreThoseOfTheManifests: what doctor asks for in each mode is what deploy/ gives, no more and no less.
func TestTheRightsAreThoseOfTheManifests(t *testing.T) {
	all := Config{Settings: events.Settings{Mode: events.ModeAll, GangScheduling: true, DeleteExpired: true, CronJobs: true}, Authorize: true, Follows: true, WatchCluster: true, Lease: Lease{On: true}}
	observe := Config{Settings: events.Settings{Mode: events.ModeObserve, CronJobs: true}}
	delegated := Config{Settings: events.Settings{Mode: events.ModeDelegated, CronJobs: true}, Lease: Lease{On: true}}
	for _, row := range []struct {
		file   string
		config Config
	}{
		{clusterFile, all}, {roleFile, all}, {watchFile, all}, {cronFile, all}, {ttlFile, all}, {gangFile, all}, {metricsFile, all}, {followFile, all},
		{observeFile, observe},
		{clusterFile, delegated},
	} {
		var asked []string
		for _, r := range needed {
			if r.need != nil && !r.need(&row.config) || r.from(&row.config) != row.file {
				continue
			}
			resource := r.resource
			if r.subresource != "" {
				resource += "/" + r.subresource
			}
			if r.path != "" {
				asked = append(asked, strings.Join(r.verbs, ",")+" "+r.path)
				continue
			}
			for _, verb := range r.verbs {
				asked = append(asked, fmt.Sprintf("%s %s/%s %s", verb, r.group, resource, r.name))
			}
		}
		slices.Sort(asked)
		asked = slices.Compact(asked) // in two namespaces
		if given := rulesOf(t, row.file); !slices.Equal(asked, given) {
			t.Errorf("%s: doctor asks for\n%s\nand the file gives\n%s", row.file, strings.Join(asked, "\n"), strings.Join(given, "\n"))
		}
	}
}
