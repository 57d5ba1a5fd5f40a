package conformance

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jobledger/jobledger/test/binaries"
)

// Outcomes of a spec.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
)

// result is the outcome of a spec with one of the controllers.
type result struct {
	Outcome string
	Said    string  `json:",omitempty"` // why the spec failed or was skipped
	Seconds float64 // how long the spec took
}

// results are the outcomes with one controller, by the name of the spec.
type results map[string]result

// record holds the outcomes with one controller. It is stored in a file until the page is written.
type record struct {
	Version string // version of Kubernetes
	Specs   results
}

// junit is the part of a JUnit report (XML) that is read here.
type junit struct {
	Cases []struct {
		Name    string  `xml:"name,attr"`
		Status  string  `xml:"status,attr"`
		Seconds float64 `xml:"time,attr"`
		Failure *struct {
			Text string `xml:",chardata"` // the first line is the reason, the second the line of code
		} `xml:"failure"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
	} `xml:"testsuite>testcase"`
}

// readReport returns the outcome of a spec from the report of a process that ran only this spec. A skipped spec has a
// reason. A spec that was not started counts as failed.
func readReport(text []byte, spec string) (result, error) {
	var report junit
	if err := xml.Unmarshal(text, &report); err != nil {
		return result{}, err
	}
	for _, c := range report.Cases {
		if c.Name != "[It] "+spec {
			continue
		}
		r := result{Outcome: failed, Said: c.Status, Seconds: c.Seconds}
		switch {
		case c.Status == passed:
			r.Outcome, r.Said = passed, ""
		case c.Failure != nil:
			r.Said, _, _ = strings.Cut(strings.TrimPrefix(c.Failure.Text, "[FAILED] "), "\n")
		case c.Skipped != nil:
			if why, ok := strings.CutPrefix(c.Skipped.Message, "skipped - "); ok {
				r.Outcome, r.Said = skipped, why
			} else {
				r.Said = "it was not begun"
			}
		}
		return r, nil
	}
	return result{}, fmt.Errorf("the report has no spec %q", spec)
}

// file returns the path of the file in which the outcomes with one controller (contender) are stored.
func file(contender string) (string, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "bin", "conformance", contender+".json"), nil
}

func (r record) save(contender string) error {
	name, err := file(contender)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

func load(contender string) (r record, err error) {
	name, err := file(contender)
	if err != nil {
		return r, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}
