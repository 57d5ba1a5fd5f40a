package which_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// TestPiecesOfTheWorld: each thing is found by each piece of its name and of its UID, in its namespace and in all, and
// nothing else is.
func TestPiecesOfTheWorld(t *testing.T) {
	src := sourceOf(populated(t))
	texts := []string{"nightly", "night", "etl", "ETL", "etl-", "only", "x7f2q", "q1q1q", "b6b6b", "a0000005",
		"-4000-", "wide", "zz", "c000000", "both"}
	for _, text := range texts {
		for _, space := range []string{"", "prod", "dev", "empty"} {
			f, lower := finderOf(src), strings.ToLower(text)
			found, err := f.Pieces(t.Context(), text, space, 1000)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			named := false // pods of Jobs that the text does not name are looked for only if there is nothing of those
			pods := func(x *thing) bool {
				return x.kind == "pod" && (space == "" || x.namespace == space) && strings.Contains(x.name, lower)
			}
			own := func(x *thing) bool {
				i := slices.IndexFunc(world, func(j thing) bool { return j.kind == "job" && j.uid == x.uid })
				return strings.HasPrefix(lower, world[i].name+"-")
			}
			for i := range world {
				named = named || pods(&world[i]) && own(&world[i])
			}
			count := map[string]int{}
			for i := range world {
				x := &world[i]
				if space == "" || x.namespace == space {
					count[x.kind]++
				}
				if x.kind == "pod" && pods(x) && len(text) > 2 && (!named || own(x)) ||
					x.kind != "pod" && (space == "" || x.namespace == space) &&
						(strings.Contains(x.name, lower) || strings.Contains(x.uid, lower)) {
					want = append(want, x.kind+" "+x.namespace+"/"+x.name+" "+x.uid)
				}
			}
			rank, before := 0, 0
			for _, m := range found.Items {
				got = append(got, strings.ToLower(m.Kind)+" "+m.Namespace+"/"+m.Name+" "+m.UID+m.OfUID)
				switch {
				case strings.ToLower(m.Name) == lower || m.UID == lower:
					rank = 0
				case strings.HasPrefix(m.Name, lower):
					rank = 1
				default:
					rank = 2
				}
				if rank < before {
					t.Errorf("%s in %q: %s comes behind less", text, space, m.Name)
				}
				before = rank
				if m.Kind == "pod" && (m.Record == 0 || m.At == 0 || m.Matched != "name" ||
					!strings.HasPrefix(m.Of, m.Namespace+"/")) || m.Kind != "pod" && (m.State == "" || m.Created == 0) {
					t.Errorf("%s in %q: %+v", text, space, m)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) || found.Jobs != count["job"] || found.CronJobs != count["cronjob"] || found.Older ||
				found.Omitted != 0 {
				t.Errorf("%s in %q: of %d and %d\n%s, want\n%s", text, space, found.Jobs, found.CronJobs,
					strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if len(want) > 1 {
				if less, err := f.Pieces(t.Context(), text, space, len(want)-1); err != nil || less.Omitted != 1 ||
					len(less.Items) != len(want)-1 {
					t.Errorf("%s in %q, one less: %d, %d, %v", text, space, len(less.Items), less.Omitted, err)
				}
			}
		}
	}
	f := finderOf(src)
	for _, row := range []struct {
		text, space string
		want        int
	}{{"#9", "", 1}, {"9", "prod", 1}, {"9", "dev", 0}, {"#0", "", 0}, {"#999", "", 0}, {"1", "", 1}, {"1", "prod", 0}} {
		found, err := f.Pieces(t.Context(), row.text, row.space, 1000)
		records := slices.DeleteFunc(found.Items, func(m which.Match) bool { return m.Kind != "record" })
		if err != nil || len(records) != row.want || strings.HasPrefix(row.text, "#") && found.PodsOf > 0 {
			t.Errorf("%+v: %+v, %v", row, records, err)
		}
		if row.want == 1 && row.text != "1" && (records[0].Record != 9 || records[0].Namespace != "prod" ||
			!strings.HasPrefix(records[0].Says, "JobAdded ") || records[0].At == 0 ||
			!strings.Contains(records[0].Name, "etl")) {
			t.Errorf("%+v: %+v", row, records)
		}
	}
}

// TestAReadOfAFinderThatFailsIsTold, whichever it is, or what is found is the same.
func TestAReadOfAFinderThatFailsIsTold(t *testing.T) {
	var all []historytest.Question
	for _, row := range []struct {
		name  string
		kind  which.Kind
		space string
	}{
		{"etl", which.Job, "prod"}, {"a000000a", which.Job, "prod"}, {"only", which.Job, "prod"},
		{"only-m9k1z", which.Pod, "prod"},
		{"nightly", which.CronJob, "prod"}, {"c0000004", which.CronJob, "prod"}, {"report", which.CronJob, "prod"},
		{"report", which.Any, "prod"},
		{"nightly-29512345", which.Any, "prod"}, {"etl", which.Any, "prod"}, {"wide", which.Job, "prod"},
		{"apart", which.Any, "prod"},
		{"deadbeef", which.Any, "test"}, {"nothing", which.Job, "prod"}, {"a0000", which.Job, "prod"},
		{"nothing", which.Any, "prod"},
	} {
		ask := func(what string, of func(ctx context.Context, f *asking, p which.Place, h which.Object) (any, error)) {
			all = append(all, historytest.Question{
				Name: fmt.Sprint(what, " ", row.name, " ", row.kind),
				Ask: func(ctx context.Context, failing *historytest.Failing, d *store.Damage) (string, error) {
					if d == nil {
						d = &store.Damage{}
					}
					f := finderOf(failing.Source(joblist.New(joblist.Config{Log: failing}), d))
					got, err := of(ctx, f, which.Place{Namespace: row.space}, which.Object{Name: row.name, Kind: row.kind})
					text := fmt.Sprint(got, f.notes)
					wrong, unknown := (*which.WrongError)(nil), (*which.UnknownError)(nil)
					switch { // these are answers, too
					case errors.As(err, &wrong):
						text, err = text+err.Error()+strings.Join(wrong.Lines(), "\n"), nil
					case errors.As(err, &unknown):
						text, _, _ = strings.Cut(text+err.Error(), "(") // where a hint cannot be read, another is given
						err = nil
					}
					return text, errors.Join(append(d.Met(), err)...)
				},
			})
		}
		switch row.kind {
		case which.Any:
			ask("of", func(ctx context.Context, f *asking, p which.Place, h which.Object) (any, error) {
				lives, name, err := f.CronJobsOf(ctx, p, h)
				return fmt.Sprint(lives, name), err
			})
			ask("resolve", func(ctx context.Context, f *asking, p which.Place, h which.Object) (any, error) {
				h, in, err := f.Resolve(ctx, p, h)
				return fmt.Sprint(h, in), err
			})
			ask("pieces", func(ctx context.Context, f *asking, _ which.Place, h which.Object) (any, error) {
				found, err := f.Pieces(ctx, h.Name, "", 100)
				return fmt.Sprintf("%+v", found), err
			})
		default:
			ask("jobs", func(ctx context.Context, f *asking, p which.Place, h which.Object) (any, error) {
				return f.Jobs(ctx, p, h)
			})
		}
	}
	if n := historytest.EachReadFails(t, populated(t), all...); n < 100 {
		t.Errorf("only %d reads failed", n)
	}
}
