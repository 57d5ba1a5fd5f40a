package loop_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// contractEvents reads the table of Events in the contract: for each type and reason ("Warning FailedGet") the pattern
// of its text.
func contractEvents(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile("../../docs/contract/cronjob.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| \\d+ \\| (Normal|Warning) \\| `(\\w+)` \\| `([^`]+)`")
	all := map[string]*regexp.Regexp{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		message := regexp.QuoteMeta(m[3])
		for verb, form := range map[string]string{"%v": `\S.*`, "%s": `\S.*`, "%q": `".*"`} {
			message = strings.ReplaceAll(message, verb, form)
		}
		all[m[1]+" "+m[2]] = regexp.MustCompile("^" + message + "$")
	}
	return all
}

// C-200: all Events of the scripts are of the sixteen reasons, and have their texts; and each reason is there, but for
// MissSchedule, which cannot be (C-142).
func TestEventsOfCronJobsAreThoseOfTheContract(t *testing.T) {
	contract := contractEvents(t)
	if len(contract) != 16 {
		t.Fatalf("the contract has %d Events", len(contract))
	}
	files, err := filepath.Glob("testdata/cron/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			told, ok := strings.CutPrefix(line, "      Event: ")
			if !ok {
				continue
			}
			words := strings.SplitN(told, " ", 3)
			kind := words[0] + " " + words[1]
			seen[kind] = true
			if form := contract[kind]; form == nil || !form.MatchString(words[2]) {
				t.Errorf("%s: the contract has no Event %q", file, told)
			}
		}
	}
	for kind := range contract {
		if can := kind != "Warning MissSchedule"; seen[kind] != can {
			t.Errorf("%s: told in a script: %t", kind, seen[kind])
		}
	}
}
