package joblist

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/internal/read/history"
)

// TestARowKeepsLabels: they are what was stored, and a selector finds them.
func TestARowKeepsLabels(t *testing.T) {
	for _, want := range []history.Summary{
		{Name: "none", Records: 3},
		{Name: "two", First: 9, Labels: map[string]string{"team": "data", "app.kubernetes.io/name": "etl"}},
		{Name: "empty", Labels: map[string]string{"team": ""}},
	} {
		r := row{key: 7, Summary: want}
		read, err := decodeRow(7, r.encode())
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.summary()
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v (-stored +read):\n%s", err, d)
		}
		q := history.ListQuery{Labels: labels.SelectorFromSet(labels.Set{"team": "data"})}
		if q.Wants(&got) != (want.Name == "two") {
			t.Errorf("%s: wanted %t", want.Name, q.Wants(&got))
		}
	}
}
