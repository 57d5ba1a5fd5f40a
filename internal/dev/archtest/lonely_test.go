package archtest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// TestWhatTheRaceDetectorLeavesOutRunsPlain: under the race detector, make test WHOLE=1 skips the lonely tests in each
// package by their names, and then runs them plain, but only in the packages of lonelies. A lonely test in another
// package would run nowhere. A name without a test is left over.
func TestWhatTheRaceDetectorLeavesOutRunsPlain(t *testing.T) {
	list := makeVariable(t, "lonely")
	lonely, plain := regexp.MustCompile(list), map[string]bool{}
	for _, dir := range strings.Fields(makeVariable(t, "lonelies")) {
		plain[filepath.Clean(dir)] = true
	}
	var found []string
	for _, pattern := range []string{"events/*", "events/*/*", "reconciler/loop", "reconciler/executor", "reconciler/executor/*", "store/*", "store/*/*"} {
		files, err := filepath.Glob(filepath.Join(root, pattern, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			dir, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range testFunction.FindAllStringSubmatch(read(t, file), -1) {
				if !lonely.MatchString(m[1]) {
					continue
				}
				if found = append(found, m[1]); !plain[dir] {
					t.Errorf("%s of %s is skipped under the race detector, and runs nowhere", m[1], dir)
				}
			}
		}
	}
	for _, name := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(list, "^("), ")$"), "|") {
		if !regexp.MustCompile("(?m)^" + name + "$").MatchString(strings.Join(found, "\n")) {
			t.Errorf("no test has the name %s", name)
		}
	}
}

var startsGoroutine = regexp.MustCompile(`(?m)^\s*go [\w.]+\(|\.Parallel\(\)`)

// TestWhatRunsPlainHasOneGoroutine: packages below events, reconciler or store that make test does not run under the
// race detector start no goroutine, not even in their tests.
func TestWhatRunsPlainHasOneGoroutine(t *testing.T) {
	raced := regexp.MustCompile(makeVariable(t, "goroutines"))
	plain := 0
	for _, pattern := range []string{"events/*", "events/*/*", "reconciler/*", "reconciler/*/*", "store/*", "store/*/*"} {
		files, err := filepath.Glob(filepath.Join(root, pattern, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			if raced.MatchString("/" + filepath.ToSlash(filepath.Dir(name))) {
				continue
			}
			if plain++; startsGoroutine.MatchString(read(t, file)) {
				t.Errorf("%s starts goroutines, and make test WHOLE=1 does not run its package under the race detector: see goroutines in the Makefile", name)
			}
		}
	}
	if plain < 10 {
		t.Errorf("%d files are looked at", plain)
	}
}

// TestPackagesOfHoursHaveNoTestForMakeTest: make test leaves out the packages of hours. So each of their tests must
// begin with a check that it runs only with JOBLEDGER_LONG.
func TestPackagesOfHoursHaveNoTestForMakeTest(t *testing.T) {
	skips := regexp.MustCompile(`^\(t \*testing\.T\) \{\n\t(long\(t\)\n|l := length\(t\)\n|if !(effort\.IsLong\(\)|long) \{\n\t\tt\.Skip\()`)
	for _, name := range strings.Split(strings.Trim(makeVariable(t, "hours"), "()"), "|") {
		files, err := filepath.Glob(filepath.Join(root, "test", name, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no tests: %v", name, err)
		}
		for _, file := range files {
			text := read(t, file)
			for _, at := range testFunction.FindAllStringSubmatchIndex(text, -1) {
				if test := text[at[2]:at[3]]; test != "TestMain" && !skips.MatchString(text[at[3]:]) {
					t.Errorf("%s of test/%s does not begin with a skip without JOBLEDGER_LONG, and make test does not run it", test, name)
				}
			}
		}
	}
}

// TestJourneysAreThere: make test leaves the packages of journeys to CI. A name that is none of them leaves out nothing.
func TestJourneysAreThere(t *testing.T) {
	for _, name := range strings.Split(strings.Trim(makeVariable(t, "journeys"), "()"), "|") {
		files, err := filepath.Glob(filepath.Join(root, "test", name, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("test/%s has no tests: %v", name, err)
		}
	}
	if ci := read(t, filepath.Join(root, ".ci", "run")); !strings.Contains(ci, "\nexport WHOLE=1 ") {
		t.Error(".ci/run does not play them: it lacks WHOLE=1")
	}
}

// makeVariable returns the value of a variable of the Makefile.
func makeVariable(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + name + ` := (.*)$`).FindStringSubmatch(read(t, filepath.Join(root, "Makefile")))
	if m == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return strings.ReplaceAll(m[1], "$$", "$")
}
