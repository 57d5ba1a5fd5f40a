package serve_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestListsAreFilteredWhereTheyAre: a reader beside the controller gets the same Jobs as one of the log, whatever is
// asked.
func TestListsAreFilteredWhereTheyAre(t *testing.T) {
	log := historytest.Hard(t, 4)
	client, _ := endpoint(t, log, nil)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	all, err := local.Jobs(t.Context(), history.JobsQuery{})
	if err != nil || len(all.Items) < 4 {
		t.Fatal(err, len(all.Items))
	}
	bears, err := labels.Parse("team in (a,b),!app")
	if err != nil {
		t.Fatal(err)
	}
	for what, row := range map[string]struct {
		query history.JobsQuery
		want  int
	}{
		"a name's beginning": {history.JobsQuery{Name: "job-"}, len(all.Items)},
		"a name":             {history.JobsQuery{Name: all.Items[0].Name}, 1},
		"a UID":              {history.JobsQuery{UID: all.Items[1].UID}, 1},
		"labels":             {history.JobsQuery{Labels: bears}, 0},
		"no labels":          {history.JobsQuery{Labels: labels.Everything()}, len(all.Items)},
	} {
		here, err1 := local.Jobs(t.Context(), row.query)
		there, err2 := client.Jobs(t.Context(), row.query)
		if d := cmp.Diff(here, there); d != "" || err1 != nil || err2 != nil || len(here.Items) != row.want {
			t.Errorf("%s: %d Jobs, want %d, %v %v (-log +client):\n%s", what, len(here.Items), row.want, err1, err2, d)
		}
	}
}
