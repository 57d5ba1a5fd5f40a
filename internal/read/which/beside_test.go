package which_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// scratched is a source whose lists have all that they had, and say that records of the log are damaged.
type scratched struct{ history.Source }

var errScratch = &store.CorruptError{Path: "a.db", At: 3, Next: 4}

func (s scratched) Jobs(ctx context.Context, q history.JobsQuery) (history.JobsPage, error) {
	page, err := s.Source.Jobs(ctx, q)
	return page, errors.Join(err, errScratch)
}

func (s scratched) CronJobs(ctx context.Context, q history.CronJobsQuery) (history.CronJobsPage, error) {
	page, err := s.Source.CronJobs(ctx, q)
	return page, errors.Join(err, errScratch)
}

// TestWhatDamageLeavesIsFound: the lists have what a name, a UID or its beginning means, and there is damage beside it.
// What is found is what was found without the damage; what is not is an error that says no less.
func TestWhatDamageLeavesIsFound(t *testing.T) {
	src := sourceOf(populated(t))
	names := append(pool(), "a0000005", "ab000006", "c0000004", "C0000007", "a000000", "a00", "nightlyy")
	found := 0
	for _, name := range names {
		for _, kind := range []which.Kind{which.Any, which.Job, which.Pod, which.CronJob} {
			for _, space := range []string{"prod", "empty"} {
				for _, given := range []bool{true, false} {
					p, h := which.Place{Namespace: space, Named: given}, which.Object{Name: name, Kind: kind}
					ask := func(src history.Source) string {
						f := finderOf(src)
						if kind == which.Any {
							h, in, err := f.Resolve(t.Context(), p, h)
							return fmt.Sprint(h, in, f.notes, err)
						}
						got, err := f.Jobs(t.Context(), p, h)
						if len(got) > 0 && err == nil {
							found++
						}
						return fmt.Sprint(got, f.notes, err)
					}
					want, got := ask(src), ask(scratched{src})
					refused := fmt.Sprintf("[] [] find %s: %s", h, errScratch) // where the name may begin a UID that cannot be read
					if got != want && (got != refused || kind != which.Job || !strings.Contains("deadbeef c0000004 C0000007", name)) {
						t.Errorf("%s in %s, given: %t: %s\nwant %s", h, space, given, got, want)
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d times something was found", found)
	}
}

// TestWhatLooksLikeAUID: a pod may have a name of its form, and three characters are no beginning of one.
func TestWhatLooksLikeAUID(t *testing.T) {
	src := sourceOf(populated(t))
	in := which.Place{Namespace: "prod", Named: true}
	for _, h := range []which.Object{
		{Name: world[8].uid, Kind: which.Pod}, {Name: "a0000005", Kind: which.Pod}, {Name: "ab0", Kind: which.Job},
		{Name: "c00", Kind: which.CronJob}, {Name: "zz000000", Kind: which.Job},
	} {
		unknown := (*which.UnknownError)(nil)
		if got, err := finderOf(src).Jobs(t.Context(), in, h); !errors.As(err, &unknown) {
			t.Errorf("%s is %v: %v", h, got, err)
		}
	}
}

// TestLinesOfSeveralStandInColumns: what is said of each object begins behind the longest of them.
func TestLinesOfSeveralStandInColumns(t *testing.T) {
	_, err := finderOf(sourceOf(populated(t))).Jobs(t.Context(), which.Place{Namespace: "prod"}, which.Object{Name: "wide", Kind: which.Job})
	wrong := (*which.WrongError)(nil)
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	want := []string{"  job/wide -n dev   Failed, ", "  job/wide -n test  Waiting, "}
	for i, line := range wrong.Lines()[1:] {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("%q, want %q", line, want[i])
		}
	}
}

// TestWhosePodsAreLookedAt: those of the Jobs that a text names, else those of all. A text of two characters is looked
// for in names of Jobs alone.
func TestWhosePodsAreLookedAt(t *testing.T) {
	src := sourceOf(populated(t))
	jobs := 0
	for i := range world {
		if world[i].kind == "job" {
			jobs++
		}
	}
	for text, want := range map[string]int{"etl-x7": 2, "etl-zzz": jobs, "x7f": jobs, "x7": 0, "only-m9k1z": 2, "#12": 0, "prod/etl": 0} {
		found, err := finderOf(src).Pieces(t.Context(), text, "", 100)
		pods := slices.ContainsFunc(found.Items, func(m which.Match) bool { return m.Kind == "pod" })
		if err != nil || found.PodsOf != want || text == "x7" && pods {
			t.Errorf("%s: the pods of %d Jobs, want %d: %v", text, found.PodsOf, want, err)
		}
	}
}
