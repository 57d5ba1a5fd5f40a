package conformance

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/test/binaries"
)

// focus matches the names of the end-to-end specs about Jobs, CronJobs and TTLs.
var focus = regexp.MustCompile(`^\[sig-apps\] (Job|CronJob|TTLAfterFinished) `)

//go:embed specs.txt
var list string

// specs returns the names of all specs in specs.txt, sorted.
func specs() []string { return strings.Split(strings.TrimSpace(list), "\n") }

// isAlpha reports whether a spec needs feature gates that are off by default.
func isAlpha(spec string) bool { return strings.Contains(spec, "[Alpha]") }

// isSerial reports whether a spec must not run beside other specs.
func isSerial(spec string) bool { return strings.Contains(spec, "[Serial]") }

const pageBegin = `# The end-to-end specs of Kubernetes

What the end-to-end specs of Kubernetes %[1]s say of Jobs, CronJobs and TTLs. Each spec ran twice on a real kubelet, with containers: with
Jobledger in the place of the built-in controllers (` + "`--manage=all`, and `--gang-scheduling` for the specs marked `[Alpha]`" + `), and with the
built-in controllers. Nothing else differs: all other controllers of kube-controller-manager run. Jobledger is a user with the ClusterRoles of
` + "`deploy/base`, `cronjobs`, `ttl`, `watch-cluster`" + `, for the specs marked ` + "`[Alpha]`" + ` also ` + "`gang`" + `, and no other rights. After the specs its log
was verified, and each decision made again from it, with the same outcome.

` + "`make conformance`" + ` runs them and writes this page; it needs root on Linux, and takes about twenty minutes. The specs are those of the module
` + "`k8s.io/kubernetes/test/e2e`" + `, unchanged, and all that it has of ` + "`[sig-apps] Job`, `CronJob` and `TTLAfterFinished`" + `. The images that they
name are made here: a static busybox, and a program that waits for its end in the place of pause. None of them names agnhost. Rules of the Job API
that these specs do not reach are in [conformance.md](conformance.md).

Jobledger: %[2]s. Built-in: %[3]s.

| Spec | Jobledger | Built-in |
|---|---|---|
`

const pageEnd = `
## What kubectl prints

` + "`make conformance`" + ` also has kubectl make six Jobs (complete, failed, past their deadline, suspended, running, with failed indexes) and a CronJob, and compares
what ` + "`get`, `get -o wide`, `get -o yaml`, `describe`, `wait` and `delete`" + ` print of them under both. Names, times, and the width of columns are
chance, and left out. It fails on any difference but in these lines:

`

// page returns the text of docs/conformance-e2e.md: the outcomes of all specs with our controller and with the built-in
// one.
func page(version string, ours, builtin results) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageBegin, version, count(ours), count(builtin))
	for _, s := range specs() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(s), cellOf(ours[s]), cellOf(builtin[s]))
	}
	b.WriteString(pageEnd)
	for _, n := range named {
		fmt.Fprintf(&b, "- `%s`: %s\n", n.line, n.why)
	}
	return b.String()
}

func count(r results) string {
	n := make(map[string]int)
	for _, one := range r {
		n[one.Outcome]++
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped", n[passed], n[failed], n[skipped])
}

// longest limits the number of characters of a text that says why a spec failed or was skipped.
const longest = 200

func cellOf(r result) string {
	if r.Outcome == "" {
		return "did not run"
	}
	if r.Said == "" {
		return r.Outcome
	}
	said := strings.Join(strings.Fields(r.Said), " ")
	if len(said) > longest {
		said = strings.ToValidUTF8(said[:longest], "") + "…"
	}
	return r.Outcome + ": " + cell(said)
}

// cell escapes a text, so that it can be a cell of a Markdown table.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text) }

// rows returns the names of the specs in the table of a page that was written earlier, in the order of the table.
func rows(page string) []string {
	var found []string
	_, table, _ := strings.Cut(page, "|---|---|---|\n")
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		found = append(found, strings.ReplaceAll(name, `\|`, "|"))
	}
	return found
}

func pageFile() (string, error) {
	root, err := binaries.FindRoot()
	return filepath.Join(root, "docs", "conformance-e2e.md"), err
}

func readPage() (string, error) {
	name, err := pageFile()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(name)
	return string(text), err
}
