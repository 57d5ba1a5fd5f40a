package lease

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestJudge: run, release, trigger and doctor judge a Lease alike, by its namespace. Whatever a tenant writes, its
// Lease counts only for Jobs of its own namespace, and for at most two minutes without a renewal.
func TestJudge(t *testing.T) {
	const forever = math.MaxInt32
	year2099 := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		sentence        string
		namespace, name string
		scope, log      string
		seconds         int32 // 0 for none
		renewed         time.Time
		managed         bool // its managed fields say that a controller of ours wrote it, in the year 2099

		word     Word
		runs     string // for whom; empty for no Jobs
		patience time.Duration
	}{
		{"the operator's, for all", "jobledger", "jobledger", "*", "a", 15, time.Time{}, false, Operators, "*", 15 * time.Second},
		{"the operator's in kube-system", "kube-system", "jobledger", "*", "a", 60, time.Time{}, false, Operators, "*", time.Minute},
		{"the operator's, for one namespace", "jobledger", "jobledger", "batch", "a", 15, time.Time{}, false, Operators, "batch", 15 * time.Second},
		{"the operator's that does not say for whom: for all", "jobledger", "jobledger", "", "", 0, time.Time{}, false, Operators, "*", DefaultDuration},
		{"the operator's, for decades", "jobledger", "jobledger", "*", "a", forever, time.Time{}, false, Operators, "*", MostDuration},
		{"the operator's, for less than nothing", "jobledger", "jobledger", "*", "a", -1, time.Time{}, false, Operators, "*", DefaultDuration},
		{"the operator's, renewed in the year 2099", "jobledger", "jobledger", "*", "a", 15, year2099, true, Operators, "*", 15 * time.Second},
		{"another program's in an operator's namespace", "kube-system", "kube-controller-manager", "", "", 15, time.Time{}, false, Nobodys, "", 15 * time.Second},
		{"another name in an operator's namespace", "jobledger", "other", "*", "a", 15, time.Time{}, false, Nobodys, "", 15 * time.Second},
		{"one namespace's own", "web", "jobledger", "web", "a", 15, time.Time{}, false, Tenants, "web", 15 * time.Second},
		{"a tenant's, for decades", "web", "jobledger", "web", "a", forever, time.Time{}, false, Tenants, "web", MostDurationOfOther},
		{"a tenant's, in the year 2099", "web", "jobledger", "web", "a", forever, year2099, true, Tenants, "web", MostDurationOfOther},
		{"a tenant's, for all", "web", "jobledger", "*", "a", forever, year2099, true, Nobodys, "", MostDurationOfOther},
		{"a tenant's, for another's Jobs", "web", "jobledger", "batch", "a", 15, year2099, true, Nobodys, "", 15 * time.Second},
		{"a tenant's, for the namespace jobledger", "web", "jobledger", "jobledger", "a", 15, time.Time{}, false, Nobodys, "", 15 * time.Second},
		{"a tenant's program of our name", "web", "jobledger", "", "", 15, time.Time{}, false, Nobodys, "", 15 * time.Second},
		{"a tenant's that names no log", "web", "jobledger", "web", "", 15, time.Time{}, false, Nobodys, "", 15 * time.Second},
		{"a tenant's under another name", "web", "ours", "web", "a", 15, time.Time{}, false, Nobodys, "", 15 * time.Second},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			object := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: row.namespace, Name: row.name, Annotations: map[string]string{}},
				Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("h"), RenewTime: &metav1.MicroTime{Time: row.renewed}},
			}
			if row.scope != "" {
				object.Annotations[ScopeAnnotation] = row.scope
			}
			if row.log != "" {
				object.Annotations[LogIDAnnotation] = row.log
			}
			if row.seconds != 0 {
				object.Spec.LeaseDurationSeconds = &row.seconds
			}
			if row.managed {
				at := metav1.NewTime(year2099)
				object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "jobledger", Operation: metav1.ManagedFieldsOperationUpdate, Time: &at}}
			}
			j := Judge(object)
			if j.Word != row.word || j.Scope != row.runs || j.Patience != row.patience {
				t.Errorf("word %d, for %q, patience %s", j.Word, j.Scope, j.Patience)
			}
			for _, scope := range []string{"*", "web", "batch", "jobledger"} {
				want := row.runs != "" && (row.runs == "*" || scope == "*" || row.runs == scope)
				if j.Runs(scope) != want {
					t.Errorf("it runs Jobs of %s: %t", scope, !want)
				}
			}
			if again := Judge(object); again.Lives(&j) {
				t.Error("it lives, and nobody has renewed it")
			}
			object.Spec.RenewTime = &metav1.MicroTime{Time: row.renewed.Add(-time.Hour)}
			if later := Judge(object); !later.Lives(&j) {
				t.Error("it was written, and its holder does not live")
			}
		})
	}
}

// TestCheckPlace: a place in which no other controller would look for the Lease, or wait for it, is refused.
func TestCheckPlace(t *testing.T) {
	for _, row := range []struct {
		namespace, scope string
		duration         time.Duration
		says             string // empty: it may be
	}{
		{"jobledger", "", DefaultDuration, ""},
		{"kube-system", "", MostDuration, ""},
		{"jobledger", "batch", MostDuration, ""},
		{"batch", "batch", MostDurationOfOther, ""},
		{"ops", "", DefaultDuration, "is in jobledger or in kube-system, and not in ops"},
		{"ops", "batch", DefaultDuration, "of namespace batch is there, in jobledger or in kube-system, and not in ops"},
		{"jobledger", "", MostDuration + time.Second, "at most 10m0s"},
		{"batch", "batch", MostDurationOfOther + time.Second, "at most 2m0s"},
	} {
		err := CheckPlace(row.namespace, row.scope, row.duration)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s for %q, %s: %v", row.namespace, row.scope, row.duration, err)
		}
	}
}

// TestLongTextsAreCut: a tenant's Lease may have megabytes of text, and parts of it go into logs and errors.
func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	object := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &long}}
	object.Annotations = map[string]string{ScopeAnnotation: long, LogIDAnnotation: long, LockAnnotation: long}
	if text := fmt.Sprintf("%+v", saidBy(object)); len(text) > 2000 {
		t.Errorf("it says %d bytes", len(text))
	}
}
