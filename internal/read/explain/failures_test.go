package explain_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestFailuresNameTheirGaps: a list of trouble names the gaps within its time, though no Job in it is in trouble, and
// no others.
func TestFailuresNameTheirGaps(t *testing.T) {
	src := observed(t)
	gaps, err := history.AllGaps(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	first := func(f failures.Failures) bool {
		for _, g := range f.Gaps {
			if g.From != 0 && events.Time(g.Until).Sub(events.Time(g.From)) > time.Second {
				return true
			}
		}
		return false
	}
	var until events.Time
	for _, g := range gaps {
		if g.From != 0 && until == 0 {
			until = events.Time(g.Until)
		}
	}
	for _, row := range []struct {
		name string
		q    failures.Query
		want bool
	}{
		{"since the middle of it", failures.Query{Since: until.Add(-time.Second)}, true},
		{"since its end", failures.Query{Since: until}, false},
		{"until before it", failures.Query{Until: until.Add(-time.Minute)}, false},
		{"always", failures.Query{}, true},
		{"in a namespace without Jobs", failures.Query{Namespace: "none"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := failures.Find(t.Context(), src, row.q)
			if err != nil {
				t.Fatal(err)
			}
			if first(f) != row.want {
				t.Errorf("gaps %+v, want one of seconds: %t", f.Gaps, row.want)
			}
		})
	}
}

// TestFailuresThatAreAlikeStandTogether: those of one cause follow each other, the newest first, and each says how many
// more there are. Here all programs that end with 3 say why.
func TestFailuresThatAreAlikeStandTogether(t *testing.T) {
	src := observed(t)
	for i := range src.records {
		for k := range src.records[i].Evidence.Containers {
			if x := &src.records[i].Evidence.Containers[k]; x.ExitCode == 3 || x.ExitCode == 9 {
				x.ExitCode, x.Message = 3, "the disk is full"
			}
		}
	}
	f, err := failures.Find(t.Context(), src, failures.Query{Survived: true})
	if err != nil {
		t.Fatal(err)
	}
	seen, alike := map[string]int{}, 0
	for i, x := range f.Items {
		key := x.Sort + x.Cause
		if seen[key] > 0 && (f.Items[i-1].Sort+f.Items[i-1].Cause != key || f.Items[i-1].Since < x.Since) {
			t.Errorf("%s/%s (%s) does not stand behind a newer one of that cause", x.Namespace, x.Name, x.Cause)
		}
		seen[key]++
	}
	for _, x := range f.Items {
		if x.Also != seen[x.Sort+x.Cause]-1 {
			t.Errorf("%s/%s says that %d more are alike, and %d are", x.Namespace, x.Name, x.Also, seen[x.Sort+x.Cause]-1)
		}
		alike += x.Also
	}
	if alike == 0 {
		t.Error("no two of the failures are alike")
	}
}

// TestOneExitCodeIsNoCause: two programs that end alike and say nothing have nothing to do with each other.
func TestOneExitCodeIsNoCause(t *testing.T) {
	f, err := failures.Find(t.Context(), observed(t), failures.Query{})
	if err != nil {
		t.Fatal(err)
	}
	works := map[string]string{}
	for _, x := range f.Items {
		work := x.Namespace + "/" + cmp.Or(x.Lineage, x.Name)
		if before, known := works[x.Cause]; known && before != work {
			t.Errorf("%s and %s have one cause: %q", before, work, x.Cause)
		}
		works[x.Cause] = work
	}
	if len(works) < 5 {
		t.Errorf("the recorded failures have %d causes", len(works))
	}
}
