package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/events"
)

// TestServers: what is said of servers of other versions, and of what they lack. test/minors holds the same against
// real ones.
func TestServers(t *testing.T) {
	type change = func(*Config, *fake.Clientset)
	is := func(git string, more ...change) change {
		return func(c *Config, client *fake.Clientset) {
			serves(client, git)
			for _, m := range more {
				m(c, client)
			}
		}
	}
	drops := func(fields ...string) change {
		return func(_ *Config, client *fake.Clientset) {
			client.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
				made := a.(clienttesting.CreateAction).GetObject().(*batchv1.Job).DeepCopy()
				for _, field := range fields {
					switch field {
					case "managedBy":
						made.Spec.ManagedBy = nil
					case "podReplacementPolicy":
						made.Spec.PodReplacementPolicy = nil
					case "backoffLimitPerIndex":
						made.Spec.BackoffLimitPerIndex = nil
					case "scheduling":
						made.Spec.Scheduling = nil
					}
				}
				return true, made, nil
			})
		}
	}
	refuses := func(err error) change {
		return func(_ *Config, client *fake.Clientset) {
			client.PrependReactor("create", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
		}
	}
	streamsNothing := func(_ *Config, client *fake.Clientset) {
		client.PrependWatchReactor("jobs", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
		})
	}
	gangs := func(c *Config, _ *fake.Clientset) { c.Settings.GangScheduling = true }
	asked := func(c *Config, _ *fake.Clientset) {
		c.Settings.GangScheduling, c.Settings.Gangs = true, events.GangsAsked
	}
	has := func(version string) change {
		return func(_ *Config, client *fake.Clientset) {
			client.Resources = append(client.Resources, &metav1.APIResourceList{
				GroupVersion: "scheduling.k8s.io/" + version, APIResources: []metav1.APIResource{{Name: "workloads"}, {Name: "podgroups"}},
			})
		}
	}
	counts := func(workloads, podGroups string) change {
		return func(c *Config, _ *fake.Clientset) {
			c.Raw = func(_ context.Context, path string) ([]byte, error) {
				if strings.HasPrefix(path, "/apis/scheduling.k8s.io/v1alpha2/workloads?") {
					return []byte(workloads), nil
				}
				return []byte(podGroups), nil
			}
		}
	}
	some, none := `{"items":[{},{}],"metadata":{"remainingItemCount":3}}`, `{"items":[]}`
	emulates := func(minor string) change {
		return func(_ *Config, client *fake.Clientset) {
			info := client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion
			info.EmulationMajor, info.EmulationMinor = "1", minor
		}
	}
	all, delegated, observe := events.ModeAll, events.ModeDelegated, events.ModeObserve
	for _, row := range []struct {
		sentence string
		mode     events.Mode
		change   change
		want     []string // "level: part of the text" of each finding
	}{
		{"the newest that was tried", delegated, nil, []string{"ok: Kubernetes v1.37.2, the version of this program's libraries"}},
		{"one that was tried", all, is("v1.32.13"), []string{"ok: v1.32.13, 5 minor versions older than this program's libraries (1.37), and tried with it"}},
		{"another one that was", all, is("v1.33.13"), []string{"ok: v1.33.13, 4 minor versions older than this program's libraries (1.37), and tried with it"}},
		{"and another", all, is("v1.34.4"), []string{"ok: v1.34.4, 3 minor versions older than this program's libraries (1.37), and tried with it"}},
		{"one more", all, is("v1.35.4"), []string{"ok: v1.35.4, 2 minor versions older than this program's libraries (1.37), and tried with it"}},
		{"the one before the newest", all, is("v1.36.3"), []string{"ok: v1.36.3, 1 minor version older than this program's libraries (1.37), and tried with it"}},
		{"another, of a vendor", all, is("v1.35.5-gke.1080000"), []string{"ok: v1.35.5-gke.1080000, 2 minor versions older"}},
		{"one that is too old, delegated", delegated, is("v1.31.4"), []string{"problem: v1.31.4 is too old: it drops spec.managedBy", "note: mutating.yaml"}},
		{"one that is too old, in place of the built-in", all, is("v1.31.4"), []string{"problem: v1.31.4 is too old: it may refuse"}},
		{"one that is too old, observed", observe, is("v1.31.4"), []string{"warning: v1.31.4 is too old: this program is for 1.32 to 1.37"}},
		{"one that is too new", all, is("v1.38.0-alpha.1"), []string{"warning: v1.38.0-alpha.1 is too new: this program is for 1.32 to 1.37"}},
		{"one that emulates an older one", all, is("v1.37.2", emulates("34")), []string{"ok: v1.37.2, which emulates 1.34, 3 minor versions older"}},
		{"one that emulates itself", all, is("v1.37.2", emulates("37")), []string{"ok: v1.37.2, the version of"}},

		{"no MutatingAdmissionPolicy", delegated, is("v1.35.4"), []string{"ok: v1.35.4", "note: deploy/policy/mutating.yaml cannot be applied"}},
		{"no streamed lists", observe, is("v1.33.13", streamsNothing), []string{"ok: v1.33.13", "note: does not stream lists"}},
		{"a gate of a field is off", all, is("v1.32.13", drops("backoffLimitPerIndex")), []string{"ok: v1.32.13", "warning: drops spec.backoffLimitPerIndex from new Jobs"}},
		{"that of managedBy, in place of the built-in", all, is("v1.34.4", drops("managedBy")), []string{"ok: v1.34.4", "warning: drops spec.managedBy"}},
		{"that of managedBy, delegated", delegated, is("v1.34.4", drops("managedBy")), []string{"ok: v1.34.4", "problem: so no Job is ours", "note: mutating.yaml"}},
		{"two gates are off without which Jobs do not complete", all, is("v1.32.13", drops("managedBy", "podReplacementPolicy")),
			[]string{"ok: v1.32.13", "problem: drops spec.managedBy and spec.podReplacementPolicy from new Jobs, and refuses SuccessCriteriaMet"}},
		{"gates are no matter to who observes", observe, is("v1.32.13", drops("managedBy")), []string{"ok: v1.32.13"}},
		{"no right to try", all, is("v1.32.13", refuses(apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "", errors.New("no rule")))),
			[]string{"ok: v1.32.13", "unknown: the dry run of a create in namespace default failed"}},
		{"a webhook against the try", all, is("v1.32.13", refuses(apierrors.NewBadRequest("does not support dry run"))), []string{"ok: v1.32.13", "unknown: does not support dry run"}},
		{"from 1.35 on no field can be dropped", all, is("v1.35.4", refuses(errors.New("asked"))), []string{"ok: v1.35.4"}},
		{"gangs of 1.37 with a server that drops spec.scheduling", all, is("v1.37.2", gangs, has("v1beta1"), drops("scheduling")),
			[]string{"ok: v1.37.2", "warning: drops spec.scheduling from new Jobs, so none can ask for a gang"}},
		{"gangs of 1.37", all, is("v1.37.2", gangs, has("v1beta1")), []string{"ok: v1.37.2"}},
		{"gangs of 1.37 that are asked for", all, is("v1.37.2", asked, has("v1beta1")), []string{"ok: v1.37.2"}},
		{"gangs without their gate", all, is("v1.37.2", gangs), []string{"ok: v1.37.2", "problem: no Workloads and PodGroups"}},
		{"gangs of 1.36", all, is("v1.36.3", gangs, has("v1alpha2"), counts(none, none)), []string{"ok: v1.36.3"}},
		{"gangs of 1.36 that are asked for", all, is("v1.36.3", asked, has("v1alpha2"), counts(none, none)), []string{"ok: v1.36.3", "problem: no Job can ask for a gang"}},
		{"gangs of 1.36 without their gate", all, is("v1.36.3", gangs), []string{"ok: v1.36.3", "problem: no Workloads and PodGroups"}},
		{"objects of 1.36", all, is("v1.36.3", has("v1alpha2"), counts(some, none)),
			[]string{"ok: v1.36.3", "warning: 5 Workloads and 0 PodGroups of scheduling.k8s.io/v1alpha2, which Kubernetes 1.37 does not have"}},
		{"no objects of 1.36", all, is("v1.36.3", has("v1alpha2"), counts(none, none)), []string{"ok: v1.36.3"}},
		{"objects of 1.36 that cannot be read", all, is("v1.36.3", has("v1alpha2"), counts("no", none)),
			[]string{"ok: v1.36.3", "unknown: how many workloads of scheduling.k8s.io/v1alpha2"}},
		{"gangs are no matter to who observes", observe, is("v1.35.4", gangs), []string{"ok: v1.35.4"}},
		{"gangs on an older one", all, is("v1.35.4", gangs), []string{"ok: v1.35.4", "problem: no Workloads and PodGroups"}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			found := append(examined(t, "server", row.mode, row.change), examined(t, "features", row.mode, row.change)...)
			found = slices.DeleteFunc(found, func(f Finding) bool { return strings.HasPrefix(f.Text, "the server lacks nothing that --manage=") })
			if len(found) != len(row.want) {
				t.Fatalf("found %+v, want %q", found, row.want)
			}
			for i, f := range found {
				level, text, _ := strings.Cut(row.want[i], ": ")
				if string(f.Level) != level || !strings.Contains(f.Text, text) {
					t.Errorf("got %s: %s\nwant %s", f.Level, f.Text, row.want[i])
				}
				if (f.Level == Problem || f.Level == Warning) && f.Do == "" {
					t.Errorf("it does not say what to do about %q", f.Text)
				}
			}
		})
	}
}

// TestTheNewestIsThatOfTheLibraries: a new version of the libraries is a new version to try.
func TestTheNewestIsThatOfTheLibraries(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\s*k8s.io/client-go v0\.(\d+)\.`).FindSubmatch(text)
	if found == nil || "1."+string(found[1]) != newest.String() {
		t.Errorf("go.mod has client-go %q, and doctor calls %s the newest", found, newest)
	}
}

// TestEachOlderVersionCanBeTried: doctor says of each version in between that it was tried, so test/minors builds each.
func TestEachOlderVersionCanBeTried(t *testing.T) {
	for minor := oldest.Minor(); minor < newest.Minor(); minor++ {
		module := fmt.Sprintf("../../../test/tools/kubernetes-1.%d/go.mod", minor)
		if _, err := os.Stat(module); err != nil {
			t.Errorf("1.%d is not built to try it: %v", minor, err)
		}
	}
}
