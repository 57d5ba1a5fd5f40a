package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestEachPlaceIsChanged lists the mutants of a small package, and compiles them.
func TestEachPlaceIsChanged(t *testing.T) {
	mutants, overlay, err := mutate(t.Context(), t.TempDir(), []string{"./testdata/rules"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, strings.TrimPrefix(m.name(), "testdata/rules "))
	}
	want := []string{
		`all: entry left out: {"small", small}`,
		`all: entry left out: {"even", func(n int) bool { return n%2 == 0 }}`,
		`all: entry after the next: {"small", small}`,
		`small: forced true: n < limit`,
		`small: forced true: n != 1`,
		`small: forced false: n < limit && n != 1`,
		`small: equal too: n < limit`,
		`small: left out: n++`,
		`small: forced true: n <= limit`,
		`small: forced false: n <= limit`,
		`small: not when equal: n <= limit`,
		`first: forced true: a[i] > 9 || b[i] > 9`,
		`first: forced false: a[i] > 9`,
		`first: forced false: b[i] > 9`,
		`first: equal too: a[i] > 9`,
		`first: equal too: b[i] > 9`,
		`first: left out: continue`,
		`first: left out: a, b = b, a`,
		`first: left out: a = b`,
		`first: left out: b = a`,
		`first: left out: sum += min(a[i]+1, b[i])`,
		`first: only a[i]+1 of min(a[i]+1, b[i])`,
		`first: only b[i] of min(a[i]+1, b[i])`,
		`first: only the left: a[i]+1`,
		`first: entry left out: cmp.Compare(sum, 0)`,
		`first: entry left out: cmp.Compare(len(a), len(b))`,
		`first: entry before the last: cmp.Compare(len(a), len(b))`,
		`counter.down: forced false: *c > 5 in case *c > 5:`,
		`counter.down: equal too: *c > 5 in case *c > 5:`,
		`counter.down: forced true: *c > 5`,
		`counter.down: left out: *c-- in case *c > 5:`,
		`counter.down: forced false: *c > 5 in for *c > 5 {`,
		`counter.down: equal too: *c > 5 in for *c > 5 {`,
		`counter.down: left out: *c-- in for *c > 5 {`,
		`counter.down: left out: *c-- in for *c > 5 { (2)`,
		`twice: left out: as, shown = c, c`,
		`twice: left out: as = c`,
		`pair.again: left out: p.n++`,
		`box.again: left out: b.n++`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("mutants\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", "-overlay", overlay, "./testdata/rules").CombinedOutput(); err != nil {
		t.Errorf("the mutated package does not compile: %s", out)
	}
	for _, m := range mutants {
		want := map[string]int{"all": 11, "small": 7}[m.function]
		if strings.Contains(m.what, "n < limit") || strings.Contains(m.what, "n != 1") {
			want = 2
		}
		if m.function == "first" || m.function == "counter.down" || m.function == "twice" || strings.HasSuffix(m.function, ".again") {
			want = 11 // the first rule that the file cites
		}
		if m.section != want {
			t.Errorf("%s is of section %d, want %d", m.name(), m.section, want)
		}
	}
}

// TestANameOutlivesAMove compares with a package that has the same functions in another file, in another order, on
// other lines.
func TestANameOutlivesAMove(t *testing.T) {
	names := func(dir string) []string {
		mutants, _, err := mutate(t.Context(), t.TempDir(), []string{"./testdata/" + dir})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range mutants {
			if strings.HasPrefix(m.function, "small") || strings.HasPrefix(m.function, "counter") {
				names = append(names, strings.TrimPrefix(m.name(), "testdata/"+dir+" "))
			}
		}
		slices.Sort(names)
		return names
	}
	before, after := names("rules"), names("moved")
	if len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("names\n%s\nafter the move\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// TestAMutantIsOn runs the mutated package with one mutant on.
func TestAMutantIsOn(t *testing.T) {
	dir := t.TempDir()
	mutants, overlay, err := mutate(t.Context(), dir, []string{"./testdata/rules"})
	if err != nil {
		t.Fatal(err)
	}
	test := filepath.Join(dir, "rules_test.go")
	text := "package rules\n\nimport \"testing\"\n\nfunc TestLimit(t *testing.T) {\n\tif !small(2) || !small(3) || small(4) || len(all) != 2 || all[0].name != \"small\" {\n\t\tt.Error()\n\t}\n}\n"
	if err := os.WriteFile(test, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	place, err := filepath.Abs("testdata/rules/rules_test.go")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(overlay)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(content), `{"Replace":{`, `{"Replace":{"`+place+`":"`+test+`",`, 1)
	if err := os.WriteFile(overlay, []byte(with), 0o644); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "rules.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, "./testdata/rules").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := suite{name: "rules", dir: ".", binary: binary}
	if err := s.baseline(t.Context(), filepath.Join(dir, "seen")); err != nil {
		t.Fatal(err)
	}
	if err := try(t.Context(), []*suite{&s}, mutants, nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		killed := map[string]bool{
			`all: entry left out: {"small", small}`:                               true,
			`all: entry left out: {"even", func(n int) bool { return n%2 == 0 }}`: true,
			`all: entry after the next: {"small", small}`:                         true,
			`small: equal too: n < limit`:                                         true,
			`small: forced true: n <= limit`:                                      true,
			`small: forced false: n <= limit`:                                     true,
			`small: not when equal: n <= limit`:                                   true,
			`small: forced true: n < limit`:                                       true,
		}[strings.TrimPrefix(m.name(), "testdata/rules ")]
		unseen := m.function == "first" || m.function == "counter.down" || m.function == "twice" || strings.HasSuffix(m.function, ".again") || m.what == "forced true: n != 1" // always true there
		if (m.killed != "") != killed || m.unseen != unseen {
			t.Errorf("%s: killed by %q, not reached %v; want killed %v", m.name(), m.killed, m.unseen, killed)
		}
	}
}

// TestARunThatIsEndedLeavesNothing: a signal ends a run, and its directory goes with it.
func TestARunThatIsEndedLeavesNothing(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		ctx, stop := untilAsked(t.Context())
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		_, err := run(ctx, &order{of: "rules"})
		stop()
		left, listed := os.ReadDir(dir)
		if err == nil || listed != nil || len(left) > 0 {
			t.Errorf("%s: %v, left %v %v", s, err, left, listed)
		}
	}
}

func TestReasons(t *testing.T) {
	file := filepath.Join(t.TempDir(), "equivalent.txt")
	if err := os.WriteFile(file, []byte("# a comment\nfile f: forced true: x\n  since x\n  is true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	reasons, err := readReasons(file)
	if err != nil || reasons["file f: forced true: x"] != "since x is true" || len(reasons) != 1 {
		t.Fatalf("%v %v", reasons, err)
	}
	survivor := &mutant{id: 1, pkg: "file", function: "f", what: "forced true: x", nth: 1, section: -1}
	killed := &mutant{id: 2, pkg: "file", function: "f", what: "forced true: x", nth: 1, section: -1, killed: "rules"}
	for _, row := range []struct {
		name    string
		mutants []*mutant
		reasons map[string]string
		clean   bool
	}{
		{"a survivor with a reason", []*mutant{survivor}, reasons, true},
		{"a survivor without", []*mutant{survivor}, nil, false},
		{"a reason for what is killed", []*mutant{killed}, reasons, false},
		{"a reason for what is not there", nil, reasons, false},
		{"all killed", []*mutant{killed}, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if report(row.mutants, row.reasons, &scopes[0], true, 100) != row.clean {
				t.Errorf("clean is not %v", row.clean)
			}
		})
	}
}

// TestARunThatDoesNotEndIsToldApart: a run that does not end is told apart from a failed test, and from a run that used
// up its processor time.
func TestARunThatDoesNotEndIsToldApart(t *testing.T) {
	for script, want := range map[string]result{
		"exit 1":              {killed: true},
		"sleep 1000":          {killed: true, waited: true},
		"while :; do :; done": {killed: true},
	} {
		binary := filepath.Join(t.TempDir(), "x.test")
		if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := t.Context(), func() {}
		if want.waited {
			ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
		}
		s := suite{name: "x", dir: ".", binary: binary}
		got, err := s.run(ctx, "", 1)
		cancel()
		if err != nil || got.killed != want.killed || got.waited != want.waited {
			t.Errorf("%s: killed %t, waited %t, %v", script, got.killed, got.waited, err)
		}
	}
	if n := starving([]*mutant{{killed: "a", waited: true}, {killed: "a"}, {}}); n != 1 {
		t.Errorf("%d runs did not end, want 1", n)
	}
}

// TestASampleIsDrawnBySeed: the same seed draws the same mutants, in their order; another seed draws others.
func TestASampleIsDrawnBySeed(t *testing.T) {
	var all []*mutant
	for id := range 1000 {
		all = append(all, &mutant{id: id + 1})
	}
	ids := func(n int, seed uint64) (out []int) {
		for _, m := range drawn(all, n, seed) {
			out = append(out, m.id)
		}
		return out
	}
	a, again, other := ids(50, 7), ids(50, 7), ids(50, 8)
	if len(a) != 50 || !slices.IsSorted(a) || len(slices.Compact(slices.Clone(a))) != 50 || !slices.Equal(a, again) || slices.Equal(a, other) {
		t.Errorf("drawn %v, again %v, by another seed %v", a, again, other)
	}
	if len(ids(0, 7)) != 1000 || len(ids(2000, 7)) != 1000 {
		t.Error("without a number, or with one that is too large, some are missing")
	}
}

// TestWhatHasToBeNoticed: nine of ten are enough if the scope asks for that, and equivalent mutants are not counted.
func TestWhatHasToBeNoticed(t *testing.T) {
	var all []*mutant
	for id := range 20 {
		all = append(all, &mutant{id: id + 1, pkg: "internal/say/words", function: "f", what: "x", nth: id + 1, killed: "words"})
	}
	all[3].killed, all[4].killed, all[5].killed = "", "", ""
	answers := &scopes[1]
	reasons := map[string]string{all[3].name(): "since x"}
	for _, row := range []struct {
		least int
		clean bool
	}{{100, false}, {90, false}, {89, true}} {
		if got := report(all, reasons, answers, false, row.least); got != row.clean {
			t.Errorf("17 of 19 with at least %d of 100: %v", row.least, got)
		}
	}
	if !answers.holds("internal/say/words f: x") || answers.holds("projector f: x") {
		t.Error("a mutant is of the wrong scope")
	}
}

// TestNoPackageOfAnswersIsLeftOut looks below internal/read/explain and internal/say, which have nothing else. Each room
// with tests of its own is judged by them, too.
func TestNoPackageOfAnswersIsLeftOut(t *testing.T) {
	const root = "../../../"
	var tested []string
	for _, below := range []string{"internal/read/explain", "internal/say"} {
		err := filepath.WalkDir(root+below, func(path string, d os.DirEntry, err error) error {
			name := filepath.Base(path)
			switch {
			case err != nil || !d.IsDir():
				return err
			case name == "testdata", name == "casetest", name == "explaintest", name == "whentest":
				return filepath.SkipDir
			}
			code, _ := filepath.Glob(path + "/*.go")
			tests, _ := filepath.Glob(path + "/*_test.go")
			dir := strings.TrimPrefix(path, root)
			if len(code) > len(tests) && !slices.Contains(answering, "./"+dir) {
				t.Errorf("%s is not changed", dir)
			}
			if room, is := strings.CutPrefix(dir, "internal/read/explain/"); is && len(tests) > 0 {
				tested = append(tested, room)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	judging := slices.Sorted(slices.Values(testedRooms))
	if !slices.Equal(judging, tested) {
		t.Errorf("rooms that judge: %v\nrooms with tests: %v", judging, tested)
	}
}

// TestByDefault: by default 500 mutants of answers are drawn, and all of rules. Mutants named by -only are all tried.
func TestByDefault(t *testing.T) {
	for _, row := range []struct {
		of    string
		o     order
		n     int
		least int
	}{
		{"rules", order{sample: -1}, 0, 100},
		{"answers", order{sample: -1}, 500, 90},
		{"answers", order{sample: 0}, 0, 90},
		{"answers", order{sample: 60, least: 80}, 60, 80},
		{"answers", order{sample: -1, only: "explain"}, 0, 90},
		{"answers", order{sample: 60, only: "explain"}, 60, 90},
	} {
		s, err := scopeOf(row.of)
		if err != nil {
			t.Fatal(err)
		}
		o := row.o
		if o.byDefault(s); o.sample != row.n || o.least != row.least {
			t.Errorf("%s, %+v: %d drawn, at least %d, want %d and %d", row.of, row.o, o.sample, o.least, row.n, row.least)
		}
	}
}
