package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// TestEveryCommandInDocs: each command that README.md or a page of docs shows exists. Other tests run the sessions
// (TestIncidentDocuments, TestCronJobDocument, TestStreamDocument; in test/: TestDemo, TestNothingIsLeft). Here all are
// compared with the real commands and flags, targets of make, values of the chart, and files, also the commands that
// need a cluster.
func TestEveryCommandInDocs(t *testing.T) {
	d := docs{t: t, root: filepath.Join("..", "..")}
	d.makefile = d.read("Makefile")
	if err := yaml.Unmarshal([]byte(d.read("deploy/chart/values.yaml")), &d.values); err != nil {
		t.Fatal(err)
	}
	n := 0
	readmes, err := filepath.Glob(filepath.Join(d.root, "examples", "*", "README.md"))
	if err != nil || len(readmes) == 0 {
		t.Fatalf("the examples have %d pages, %v", len(readmes), err)
	}
	for _, page := range append(pages(t, d.root), readmes...) {
		if filepath.Base(page) == "commands.md" {
			continue // is made of the commands, TestReference
		}
		for _, c := range commandsOf(filepath.Base(page), d.read(strings.TrimPrefix(page, d.root+"/"))) {
			n++
			if err := d.check(c.words, c.named); err != nil {
				t.Errorf("%s\n\t%v", c.where, err)
			}
		}
	}
	if n < 120 {
		t.Errorf("only %d commands are found", n)
	}
}

// sessions are the pages whose console blocks a test runs, and compares with what they show.
var sessions = map[string]string{
	"README.md": "test/cmd/demo/demo_test.go", "life-of-a-job.md": "test/cmd/demo/demo_test.go",
	"cronjobs.md": "cmd/jobledger/crondocs_test.go", "stream.md": "cmd/jobledger/streamdoc_test.go",
	"uninstall.md": "test/uninstall/uninstall_test.go",
}

var asksIncidents = regexp.MustCompile(`^\$ bin/jobledger .*examples/incidents`)

// TestEverySessionInDocsIsRun: a console block shows what a command printed, so a test runs it.
func TestEverySessionInDocsIsRun(t *testing.T) {
	d := docs{t: t, root: filepath.Join("..", "..")}
	for page, test := range sessions {
		if !strings.Contains(d.read(test), page) {
			t.Errorf("%s does not run %s", test, page)
		}
	}
	for _, page := range pages(t, d.root) {
		for _, m := range block.FindAllStringSubmatch(d.read(strings.TrimPrefix(page, d.root+"/")), -1) {
			if name := filepath.Base(page); m[2] == "console" && sessions[name] == "" {
				for line := range strings.Lines(m[3]) {
					if strings.HasPrefix(line, "$ ") && !asksIncidents.MatchString(line) { // else TestIncidentDocuments runs it
						t.Errorf("%s: no test runs %s", name, line)
					}
				}
			}
		}
	}
}

// TestACommandThatIsNoneIsFound: rows of commands with faults that TestEveryCommandInDocs must find.
func TestACommandThatIsNoneIsFound(t *testing.T) {
	d := docs{t: t, root: filepath.Join("..", "..")}
	d.makefile = "\ndemo: ## x\n\t$(KEEP)\n"
	d.values = map[string]any{"log": map[string]any{"maxSize": "8Gi"}}
	for _, row := range []struct {
		line, want string
		named      bool // in a sentence
	}{
		{"jobledger get jobs -A --log DIR", "", false},
		{"kubectl -n jobledger exec jobledger-0 -- jobledger explain job/plain --log DIR", "", false},
		{"kubectl jobledger verify --log DIR --has SEQ:HASH", "", false},
		{"make demo KEEP=1", "", false},
		{"helm install x deploy/chart --set log.maxSize=1Gi", "", false},
		{"kubectl apply -k deploy/overlays/observe", "", false},
		{"jobledger explane job/plain", "explane", false},
		{"jobledger get jobs --color", "no flag --color", false},
		{"jobledger get", "say what to get", false},
		{"jobledger run --nats-replicas=three", "must be", false},
		{"kubectl -n x exec pod -- jobledger run --lgo=x", "no flag --lgo", false},
		{"kubectl aply -f examples/plain.yaml", "kubectl has no aply", false},
		{"kubectl apply -f examples/plane.yaml", "no such file", false},
		{"make demmo", "no target", false},
		{"make demo KEPT=1", "no KEPT", false},
		{"helm install x deploy/chart --set log.maxSise=1Gi", "no value log.maxSise", false},
		{"jobledger get", "", true},
		{"jobledger subscribe --durable", "", true},
		{"jobledger get --colour", "no flag --colour", true},
		{"docker run x", "does not know docker", false},
	} {
		err := errors.Join()
		for _, words := range simple(row.line) {
			err = errors.Join(err, d.check(words, row.named))
		}
		if (row.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.line, err, row.want)
		}
	}
}

// docs is the list of real commands, targets, values and files.
type docs struct {
	t        *testing.T
	root     string
	makefile string
	values   map[string]any // of the chart
}

func (d *docs) read(file string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.root, file))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// otherPrograms are programs of which only the named files are checked.
var otherPrograms = []string{"cd", "cp", "cut", "export", "git", "grep", "head", "kustomize", "nats", "nsc", "sed", "skopeo", "sleep", "tail", "tar"}

// verbs are those of kubectl that the pages use.
var verbs = []string{
	"annotate", "apply", "cp", "create", "delete", "describe", "drain", "edit", "exec", "get", "label", "logs", "patch", "port-forward", "rollout", "scale", "wait",
}

// check says what is wrong with a command.
func (d *docs) check(words []string, named bool) error {
	var err error
	switch program := strings.TrimPrefix(words[0], "bin/"); {
	case program == "jobledger", strings.HasPrefix(program, "kubectl-jobledger"):
		err = checkOurs(program, words[1:], named)
	case program == "kubectl" && len(words) > 1 && words[1] == "jobledger":
		err = checkOurs("kubectl jobledger", words[2:], named)
	case program == "kubectl":
		err = d.checkKubectl(words[1:], named)
	case program == "make":
		err = d.checkMake(words[1:])
	case program == "helm":
		err = d.checkHelm(words[1:])
	case !slices.Contains(otherPrograms, program):
		err = fmt.Errorf("this test does not know %s", program)
	}
	return errors.Join(err, d.checkFiles(words[1:]))
}

// checkOurs parses a command line as the program does, without running it. A command in a sentence may lack values and
// arguments.
func checkOurs(name string, args []string, named bool) error {
	args = slices.DeleteFunc(slices.Clone(args), func(word string) bool { return word == "…" })
	for i, word := range args {
		if word == "SEQ" || word == "N" { // a sequence or a number of the reader's
			args[i] = "1"
		}
	}
	if len(args) == 0 || len(args) == 1 && args[0] == "help" {
		return nil
	}
	root := newRoot(&cli.CLI{Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}, name)
	if args[0] == "completion" {
		return nil // is cobra's, which adds it when it runs
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if cmd == root {
		return fmt.Errorf("there is no command %q", strings.Join(args, " "))
	}
	err = cmd.ParseFlags(rest)
	var noValue *pflag.ValueRequiredError
	if named && (err == nil || errors.As(err, &noValue)) {
		return nil
	}
	if err != nil {
		return plainFlagError(cmd, err)
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func (d *docs) checkKubectl(words []string, named bool) error {
	for i, word := range words {
		if word == "--" { // of exec: a command in the container
			return errors.Join(d.checkKubectl(words[:i], named), d.check(words[i+1:], named))
		}
	}
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == "-n" || words[i] == "--context":
			i++ // and its value
		case strings.HasPrefix(words[i], "-"):
		case !slices.Contains(verbs, words[i]):
			return fmt.Errorf("kubectl has no %s, as far as this test knows", words[i])
		default:
			return nil
		}
	}
	if named {
		return nil
	}
	return errors.New("kubectl is not told what to do")
}

func (d *docs) checkMake(words []string) error {
	for _, word := range words {
		name, _, isVariable := strings.Cut(word, "=")
		switch {
		case isVariable && !regexp.MustCompile(`\$\(`+name+`\b|`+name+` \?=`).MatchString(d.makefile):
			return fmt.Errorf("the Makefile has no %s", name)
		case !isVariable && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`:`).MatchString(d.makefile):
			return fmt.Errorf("the Makefile has no target %s", name)
		}
	}
	return nil
}

func (d *docs) checkHelm(words []string) error {
	for i, word := range words[:max(len(words)-1, 0)] {
		if word != "--set" {
			continue
		}
		key, _, _ := strings.Cut(words[i+1], "=")
		var at any = d.values
		for part := range strings.SplitSeq(key, ".") {
			below, _ := at.(map[string]any) // of what is no map nothing is below
			var ok bool
			if at, ok = below[part]; !ok {
				return fmt.Errorf("the chart has no value %s", key)
			}
		}
	}
	return nil
}

var inRepository = regexp.MustCompile(`^(deploy|docs|examples|internal|proto|test)(/[\w./-]+)?$`)

// checkFiles reports the paths of this repository that are not there.
func (d *docs) checkFiles(words []string) (err error) {
	for _, word := range words {
		if !inRepository.MatchString(word) || !strings.Contains(word, "/") {
			continue
		}
		if _, missing := os.Stat(filepath.Join(d.root, word)); missing != nil {
			err = errors.Join(err, fmt.Errorf("%s: no such file", word))
		}
	}
	return err
}

var (
	ourFlag   = regexp.MustCompile("^--[a-z][a-z-]+")
	ourMetric = regexp.MustCompile(`\b(jobledger|job_controller|ttl_after_finished_controller|cronjob_controller)_[a-z_]+`)
)

// theirs are flags of other programs that the pages name.
var theirs = []string{
	"--controllers", "--request-timeout", "--create-namespace", "--previous", "--unsafe-no-fsync", "--kube-api-qps", "--kube-api-burst",
	"--quick", "--program", "--records", "--crash", "--file-bytes", "--set", "--concurrent-job-syncs",
}

// TestFlagsAndMetricsInDocs: each flag and each metric that a sentence names exists.
func TestFlagsAndMetricsInDocs(t *testing.T) {
	d := docs{t: t, root: filepath.Join("..", "..")}
	flags := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(newRoot(&cli.CLI{Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}, "jobledger"))
	metrics := d.read("docs/metrics.md")
	named, measured := 0, 0
	for _, page := range pages(t, d.root) {
		text := block.ReplaceAllString(d.read(strings.TrimPrefix(page, d.root+"/")), "")
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			if flag := ourFlag.FindString(m[1]); flag != "" && !slices.Contains(theirs, flag) {
				named++
				if !flags[flag] {
					t.Errorf("%s: there is no flag %s", filepath.Base(page), flag)
				}
			}
			for _, metric := range ourMetric.FindAllString(m[1], -1) {
				if strings.HasSuffix(metric, "_") {
					continue // is a prefix
				}
				measured++
				if !strings.Contains(metrics, "`"+metric+"`") {
					t.Errorf("%s: there is no metric %s", filepath.Base(page), metric)
				}
			}
		}
	}
	if named < 100 || measured < 50 {
		t.Errorf("only %d flags and %d metrics are found", named, measured)
	}
}
