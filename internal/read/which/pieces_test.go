package which_test

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/examples/incidents"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// TestPieces looks for pieces of texts in a recorded log.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	if err := incidents.Write("observed", dir); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	src := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log), Dir: dir}),
		Damage: &store.Damage{}}
	finder := which.Finder{Source: src, Note: func(string) {}}
	for _, row := range []struct {
		name, text, namespace string
		most                  int
		want                  []string
		omitted               int
	}{
		{"a name and the pods of its Job", "etl-orders", "", 50, []string{"Job etl-orders", "pod etl-orders-m2ctg",
			"pod etl-orders-s2ccm", "pod etl-orders-gqrp8"}, 0},
		{"a piece of a name, in large letters", "ETL-ORD", "", 1, []string{"Job etl-orders"}, 3},
		{"the end of a pod's name", "m2ctg", "", 50, []string{"pod etl-orders-m2ctg"}, 0},
		{"a whole pod's name comes before nothing else", "etl-orders-m2ctg", "", 50, []string{"pod etl-orders-m2ctg"}, 0},
		{"the beginning of a UID", "6ce21dcc", "", 50, []string{"Job etl-orders"}, 0},
		{"in another namespace it is not found", "etl-orders", "oom", 50, nil, 0},
		{"what there is not", "zzzz", "", 50, nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			found, err := finder.Pieces(t.Context(), row.text, row.namespace, row.most)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range found.Items {
				got = append(got, m.Kind+" "+m.Name)
			}
			if !slices.Equal(got, row.want) || found.Omitted != row.omitted {
				t.Errorf("found %q and %d more, want %q and %d", got, found.Omitted, row.want, row.omitted)
			}
			if found.Jobs == 0 || found.Older {
				t.Errorf("%d Jobs were looked at, older ones left out: %t", found.Jobs, found.Older)
			}
		})
	}
	found, err := finder.Pieces(t.Context(), "#40", "", 50)
	if err != nil || len(found.Items) == 0 || found.Items[0].Kind != "record" || found.Items[0].Record != 40 ||
		found.Items[0].Says == "" {
		t.Errorf("record 40: %+v, %v", found, err)
	}
}
