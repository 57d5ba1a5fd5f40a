package drill

import (
	"fmt"
	"strings"
	"time"

	"github.com/jobledger/jobledger/internal/say/words"
)

// Outcome is the result of a check.
type Outcome string

// The outcomes of a check.
const (
	Holds      Outcome = "holds"
	DoesNot    Outcome = "does not hold"
	NotChecked Outcome = "not checked"
)

// Report is the result of a drill. Its JSON may get new fields, and never loses one.
type Report struct {
	Passed  bool      `json:"passed"`
	By      string    `json:"by"`      // user and host that ran the drill
	Version string    `json:"version"` // version of this program
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	Seconds float64   `json:"seconds"`
	Copy    Copy      `json:"copy"`
	Checks  []Check   `json:"checks"`
	Jobs    []Job     `json:"jobs"` // the Jobs that were explained
}

// Copy is the copy that was tested.
type Copy struct {
	Place   string    `json:"place"`
	LogID   string    `json:"logID,omitempty"`
	Epoch   uint64    `json:"epoch,omitempty"`
	First   uint64    `json:"first,omitempty"` // first restored record
	Head    uint64    `json:"head,omitempty"`
	Hash    string    `json:"hash,omitempty"`   // hash chain value at Head
	Newest  time.Time `json:"newest,omitzero"`  // time of the record Head
	Written time.Time `json:"written,omitzero"` // time of the manifest, by its writer's clock
	Writer  string    `json:"writer,omitempty"`
	Bytes   int64     `json:"bytes,omitempty"` // number of bytes that a restore reads
}

// Check is the result of one check of the restored log.
type Check struct {
	Name    string   `json:"name"`
	Outcome Outcome  `json:"outcome"`
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"`
	Seconds float64  `json:"seconds"`
}

// Job is a Job that was explained from the restored log.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Verdict   string `json:"verdict"`
	Live      string `json:"live"` // how the live log's answer compares; one of the constants live…
}

// mostDetails limits how many details of a check the report names; it says how many more there are.
const mostDetails = 20

// told returns the first 20 details; if there are more, a line with their number follows.
func told(details []string) []string {
	if more := len(details) - mostDetails; more > 0 {
		return append(details[:mostDetails:mostDetails], fmt.Sprintf("and %d more", more))
	}
	return details
}

// Markdown returns the report as Markdown. In texts from outside, such as names, it removes control characters and
// escapes the characters that Markdown uses.
func (r *Report) Markdown() string {
	var b strings.Builder
	result := "passed"
	if !r.Passed {
		result = "did not pass"
	}
	fmt.Fprintf(&b, "# Restore drill of %s: %s\n\n", day(r.Began), result)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, cell(value))
		}
	}
	b.WriteString("| | |\n|---|---|\n")
	row("By", r.By)
	row("Program", "jobledger "+r.Version)
	row("When", fmt.Sprintf("%s, %s", second(r.Began), took(r.Seconds)))
	row("Copy", r.Copy.Place)
	if c := r.Copy; c.LogID != "" {
		row("Log", fmt.Sprintf("%s, epoch %d", c.LogID, c.Epoch))
		row("Head", fmt.Sprintf("record %d of %s, hash %s", c.Head, second(c.Newest), c.Hash))
		row("Written", fmt.Sprintf("%s by jobledger %s, %s before the drill", second(c.Written), c.Writer,
			words.Span(max(r.Began.Sub(c.Written), 0))))
		row("Size", fmt.Sprintf("%d bytes, records from %d on", c.Bytes, c.First))
	}
	b.WriteString("\n| Check | Outcome | What was seen | Took |\n|---|---|---|---|\n")
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.Name), c.Outcome, cell(c.Text), took(c.Seconds))
	}
	for _, c := range r.Checks {
		for i, d := range c.Details {
			if i == 0 {
				fmt.Fprintf(&b, "\n%s:\n\n", cell(c.Name))
			}
			fmt.Fprintf(&b, "- %s\n", cell(d))
		}
	}
	if len(r.Jobs) > 0 {
		b.WriteString("\n| Job | What the restored log says | The live log |\n|---|---|---|\n")
	}
	for _, j := range r.Jobs {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(j.Namespace+"/"+j.Name), cell(j.Verdict), cell(j.Live))
	}
	return b.String()
}

var marks = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "\n", " ")

func cell(text string) string { return marks.Replace(words.Clean(text)) }

func day(t time.Time) string    { return t.UTC().Format(time.DateOnly) }
func second(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func took(seconds float64) string { return fmt.Sprintf("%.1f s", seconds) }
