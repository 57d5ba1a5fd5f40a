package conformance

import (
	"slices"
	"strings"
	"testing"
)

// TestThePageListsEverySpec: the page has exactly the specs of specs.txt, in order.
func TestThePageListsEverySpec(t *testing.T) {
	text, err := readPage()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rows(text), specs(); !slices.Equal(got, want) {
		t.Errorf("the page has %d specs:\n%s\nspecs.txt has %d:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
}

func TestSpecsAreSortedAndThoseOfThreeKinds(t *testing.T) {
	if !slices.IsSorted(specs()) {
		t.Error("specs.txt is not sorted")
	}
	for _, s := range specs() {
		if !focus.MatchString(s) {
			t.Errorf("%q is no spec of Jobs, CronJobs or TTLs", s)
		}
	}
}

const someReport = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="Kubernetes e2e suite">
<testcase name="[SynchronizedBeforeSuite]" status="passed" time="0.1"></testcase>
<testcase name="[It] works" status="passed" time="1.5"></testcase>
<testcase name="[It] breaks" status="failed" time="2"><failure message="" type="failed">[FAILED] expected 1 &lt; 0&#xA;In [It] at: job.go:3&#xA;</failure></testcase>
<testcase name="[It] panics" status="panicked" time="2"><failure message="" type="panicked">[PANICKED] boom</failure></testcase>
<testcase name="[It] is too slow" status="timedout" time="900"></testcase>
<testcase name="[It] needs two nodes" status="skipped" time="0.2"><skipped message="skipped - Requires at least 2 nodes"></skipped></testcase>
<testcase name="[It] was filtered" status="skipped" time="0"><skipped message="skipped"></skipped></testcase>
</testsuite></testsuites>`

func TestReadReport(t *testing.T) {
	for spec, want := range map[string]result{
		"works":           {Outcome: passed, Seconds: 1.5},
		"breaks":          {Outcome: failed, Said: "expected 1 < 0", Seconds: 2},
		"panics":          {Outcome: failed, Said: "[PANICKED] boom", Seconds: 2},
		"is too slow":     {Outcome: failed, Said: "timedout", Seconds: 900},
		"needs two nodes": {Outcome: skipped, Said: "Requires at least 2 nodes", Seconds: 0.2},
		"was filtered":    {Outcome: failed, Said: "it was not begun"}, // its suite ended before it
	} {
		if got, err := readReport([]byte(someReport), spec); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", spec, got, err, want)
		}
	}
	if got, err := readReport([]byte(someReport), "unknown"); err == nil {
		t.Errorf("a spec that is not in the report: %+v", got)
	}
}

// TestPageHasARowForEachSpec: each spec has a row, whatever its outcome, and rows reads the page back.
func TestPageHasARowForEachSpec(t *testing.T) {
	all := specs()
	ours := results{all[0]: {Outcome: passed}, all[1]: {Outcome: failed, Said: "a | b\n<c> " + strings.Repeat("é", 300)}}
	text := page("v1.36.3", ours, results{all[1]: {Outcome: skipped, Said: "no such thing"}})
	if got := rows(text); !slices.Equal(got, all) {
		t.Errorf("it has the rows %q", got)
	}
	for _, want := range []string{
		"Jobledger: 1 passed, 1 failed, 0 skipped. Built-in: 0 passed, 0 failed, 1 skipped.",
		"| " + all[0] + " | passed | did not run |\n",
		`| failed: a \| b &lt;c> éé`, "é… | skipped: no such thing |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}
