package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// TestATenantDoesNotFillTheLog: a user changes the large template of a suspended Job with tiny patches, as fast as the
// API server accepts them. Each makes another template of 40 kB. The log grows by little more than the share of the
// namespace, the last spec is known in the end, and other Jobs of the namespace go on.
func TestATenantDoesNotFillTheLog(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	const (
		patches = 120
		labels  = 500
		budget  = 1 << 20
	)
	w := newWorld(t)
	w.told = append(w.told, "namespaces fill the log beyond --log-namespace-budget")
	c := w.run("", fmt.Sprintf("--log-namespace-budget=%d", budget))
	w.create(newJob("busy", suspended, func(j *batchv1.Job) {
		if j.Spec.Template.Labels == nil {
			j.Spec.Template.Labels = map[string]string{}
		}
		for i := range labels {
			j.Spec.Template.Labels[fmt.Sprintf("example.com/label-%020d", i)] = strings.Repeat("x", 40)
		}
	}))
	w.eventually("it is known", func() (bool, error) { return condition(w.job("busy"), batchv1.JobSuspended) != nil, nil })
	template, err := json.Marshal(w.job("busy").Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	for i := range patches {
		w.patch("busy", fmt.Sprintf(`{"backoffLimit":%d,"template":{"spec":{"nodeSelector":{"zone":"z%d"}}}}`, 100+i, i))
	}
	w.create(newJob("other"))
	w.ends("other", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
	w.logSays("the last spec is known", func() (bool, error) {
		text, err := c.Told(t.Context(), "job/busy")
		return strings.Contains(strings.Join(strings.Fields(text), ""), fmt.Sprintf(`"backoffLimit":%d`, 100+patches-1)), err
	})
	w.stop(c)

	stored := storedBytes(t, c.Log())
	t.Logf("%d patches of a template of %d bytes: %d records of %d bytes", patches, len(template), stored.records, stored.bytes)
	if patches*len(template) < 4*budget {
		t.Errorf("%d templates of %d bytes prove too little", patches, len(template))
	}
	if most := 3 * budget / 2; stored.bytes > most { // the share, and then specs without their template's text
		t.Errorf("the log took %d bytes, more than %d", stored.bytes, most)
	}
}
