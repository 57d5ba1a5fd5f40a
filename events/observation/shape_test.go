package observation

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// TestSharedSpecsAreTheirOwn: a feed that has seen another Job reports the same spec as a fresh feed. The Jobs of a
// pair differ in one field of the spec, the template or its pod spec.
func TestSharedSpecsAreTheirOwn(t *testing.T) {
	shared, pairs := 0, 0
	for seed := range int64(20) {
		fill := randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 2).MaxDepth(12)
		for _, other := range variants(fill) {
			base := testJob("a")
			other(base)
			same := testJob("b")
			other(same)
			for _, pair := range [][2]*batchv1.Job{{testJob("a"), base}, {base, testJob("a")}, {base, same}} {
				feed := NewFeed(Config{Key: testKey})
				before, err := feed.specOf(wireJob(pair[0]))
				if err != nil {
					t.Fatal(err)
				}
				got, err := feed.specOf(wireJob(pair[1]))
				if err != nil {
					t.Fatal(err)
				}
				want, err := NewFeed(Config{Key: testKey}).specOf(wireJob(pair[1]))
				if err != nil {
					t.Fatal(err)
				}
				opts := cmp.Options{cmp.AllowUnexported(specSeen{}, specContent{}, podRouting{}, comparison{}), cmpopts.IgnoreFields(podRouting{}, "selector")}
				if diff := cmp.Diff(want, got, opts); diff != "" {
					t.Fatalf("seed %d (-alone +after another)\n%s", seed, diff)
				}
				if pairs++; before.specContent == got.specContent {
					shared++
				}
			}
		}
	}
	if shared < pairs/4 || shared > pairs*3/4 {
		t.Errorf("%d of %d pairs shared a spec", shared, pairs)
	}
}

// variants returns changes of one field each, to a random value.
func variants(fill *randfill.Filler) (all []func(*batchv1.Job)) {
	each := func(of func(*batchv1.Job) reflect.Value, except ...string) {
		kind := of(&batchv1.Job{}).Type()
	fields:
		for i := range kind.NumField() {
			for _, name := range except {
				if kind.Field(i).Name == name {
					continue fields
				}
			}
			value := reflect.New(kind.Field(i).Type)
			fill.Fill(value.Interface())
			all = append(all, func(job *batchv1.Job) { of(job).Field(i).Set(value.Elem()) })
		}
	}
	each(func(j *batchv1.Job) reflect.Value { return reflect.ValueOf(&j.Spec).Elem() }, "Selector", "Template")
	each(func(j *batchv1.Job) reflect.Value { return reflect.ValueOf(&j.Spec.Template.ObjectMeta).Elem() }, "Labels")
	each(func(j *batchv1.Job) reflect.Value { return reflect.ValueOf(&j.Spec.Template.Spec).Elem() })
	return all
}

// TestWhoSharesASpec: Jobs that differ only in fields that the API server generated share one reading of their specs.
// Other Jobs do not.
func TestWhoSharesASpec(t *testing.T) {
	elsewhere := testJob("a")
	elsewhere.Namespace = "elsewhere"
	label := func(name, value string) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.Template.Labels[name] = value }
	}
	for _, row := range []struct {
		name  string
		other *batchv1.Job
		share bool
	}{
		{"another name", testJob("b"), true},
		{"another status", testJob("b", complete), true},
		{"another namespace", elsewhere, false},
		{"another label", testJob("b", label("app", "x")), false},
		{"a label more", testJob("b", label("more", "x")), false},
		{"an annotation more", testJob("b", func(j *batchv1.Job) { j.Spec.Template.Annotations = map[string]string{controllerUIDLabel: "x"} }), false},
		{"another image", testJob("b", func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Image = "demo:2" }), false},
		{"a selector of its own", testJob("a", selecting(map[string]string{controllerUIDLabel: "uid-a"})), false},
		{"a selector that says more", testJob("b", func(j *batchv1.Job) { j.Spec.Selector.MatchLabels["app"] = "demo" }), false},
		{"an expression more", testJob("b", func(j *batchv1.Job) {
			j.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}
		}), false},
		{"the selector of another Job", testJob("b", func(j *batchv1.Job) { j.Spec.Selector.MatchLabels[controllerUIDLabel] = "uid-a" }), false},
		{"no selector", testJob("b", func(j *batchv1.Job) { j.Spec.Selector = nil }), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			feed := NewFeed(Config{Key: testKey})
			a, err := feed.specOf(wireJob(testJob("a")))
			if err != nil {
				t.Fatal(err)
			}
			b, err := feed.specOf(wireJob(row.other))
			if err != nil {
				t.Fatal(err)
			}
			if got := a.specContent == b.specContent; got != row.share {
				t.Errorf("they share: %v, want %v", got, row.share)
			}
		})
	}
}

// TestAFullMemoForgets: any number of texts takes no more memory than the bound.
func TestAFullMemoForgets(t *testing.T) {
	var m memo[int]
	made := 0
	for n := range 100 {
		text := append([]byte(strings.Repeat("x", memoBytes/10)), byte(n))
		for range 2 {
			if v, err := m.of(text, func() (int, error) { made++; return n, nil }); v != n || err != nil {
				t.Fatalf("of text %d: %d, %v", n, v, err)
			}
		}
		held := 0
		for text := range m.known {
			held += len(text)
		}
		if held != m.bytes || held > memoBytes {
			t.Fatalf("%d bytes are held, and %d said to be", held, m.bytes)
		}
	}
	if made != 100 {
		t.Errorf("100 texts were read %d times", made)
	}
	held := len(m.known)
	if _, err := m.of(make([]byte, memoBytes+1), func() (int, error) { return 0, nil }); err != nil || len(m.known) != held {
		t.Errorf("a text that is too large is held, or takes the others' place: %d texts, %v", len(m.known), err)
	}
}

// BenchmarkNewJobOfATemplate measures a Job that differs from others only in fields that the API server generated.
func BenchmarkNewJobOfATemplate(b *testing.B) {
	feed := NewFeed(Config{Key: testKey})
	var jobs []*kubewire.Job
	for _, name := range strings.Fields("a b c d e f g h") {
		jobs = append(jobs, wireJob(testJob(name)))
	}
	b.ReportAllocs()
	for n := range b.N {
		if _, err := feed.specOf(jobs[n%len(jobs)]); err != nil {
			b.Fatal(err)
		}
	}
}
