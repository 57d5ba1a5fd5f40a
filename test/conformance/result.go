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

// result is the outcome of one spec with one contender.
type result struct {
	Outcome string
	Said    string  `json:",omitempty"` // why it failed or was skipped
	Seconds float64 // how long it took
}

// results are those of a contender, by the name of the spec.
type results map[string]result

// record is the result of a contender's runs. It is kept until the page is written.
type record struct {
	Version string // of Kubernetes
	Specs   results
}

// junit has the fields that are read from a JUnit report.
type junit struct {
	Cases []struct {
		Name    string  `xml:"name,attr"`
		Status  string  `xml:"status,attr"`
		Seconds float64 `xml:"time,attr"`
		Failure *struct {
			Text string `xml:",chardata"` // the first line has the reason, the next the place
		} `xml:"failure"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
	} `xml:"testsuite>testcase"`
}

// readReport reads the outcome of a spec from the report of a process that ran only this spec. A spec that skipped
// itself has a reason; a spec that was not begun has failed.
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

// file returns the path of a contender's record.
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
