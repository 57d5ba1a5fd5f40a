package incidents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestExplainSaysTheTruth asks of each recorded Job why it ended as it did. The answer must have the result, the words
// of the cause, the first pod, who deleted pods as far as a log can know, and whether the log has a gap. The answers
// are kept as text, and compared.
func TestExplainSaysTheTruth(t *testing.T) {
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []mode{delegated, observed} {
		t.Run(string(m), func(t *testing.T) {
			a := asker{controller.New(controller.Config{Program: program, Log: filepath.Join(examples, string(m), "log")}), m}
			for i, told := range readTruth(t, filepath.Join(examples, string(m), "truth.json")) {
				if i%effort.Step(4) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%02d-%s", told.Incident, told.Job), func(t *testing.T) { a.ask(t, i, &told) })
			}
		})
	}
}

// asker asks the program about one log.
type asker struct {
	*controller.Controller
	mode mode
}

// answer is an explanation in its form for programs.
type answer struct {
	State    string
	Verdict  sentence
	Deleted  *sentence
	Sections []struct {
		Head      string
		Sentences []sentence
	}
}

type sentence struct{ Text string }

// text returns all sentences of the answer.
func (a *answer) text() string {
	all := []string{a.State, a.Verdict.Text}
	if a.Deleted != nil {
		all = append(all, a.Deleted.Text)
	}
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			all = append(all, s.Head+" "+x.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (a asker) ask(t *testing.T, nth int, told *truth) {
	out, err := a.CLI(t.Context(), "explain", "job/"+told.UID, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var got answer
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	text := got.text()
	for _, missing := range a.missing(told, &got, text) {
		t.Errorf("the answer does not say, %s:\n%s", missing, text)
	}
	table, err := a.CLI(t.Context(), "explain", "job/"+told.UID)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", string(a.mode), fmt.Sprintf("%02d-%s-%d.txt", told.Incident, told.Job, nth)), table)
}

// missing returns the parts of the truth that the answer lacks.
func (a asker) missing(told *truth, got *answer, text string) (all []string) {
	says := func(what string, words ...string) {
		for _, w := range words {
			if strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
				return
			}
		}
		all = append(all, fmt.Sprintf("%s: %q", what, words))
	}
	if got.State != told.Result {
		all = append(all, fmt.Sprintf("result: %s, but %s", told.Result, got.State))
	}
	for _, words := range told.Says {
		if told.Untold == nil || !slices.Contains(told.Untold.Says, words) {
			says("cause", strings.Split(words, "|")...)
		}
	}
	if told.Untold != nil {
		for _, words := range told.Untold.Instead {
			says("what is untold", words)
		}
		for _, words := range told.Untold.Says {
			if said := cause(got); strings.Contains(said, words) {
				all = append(all, fmt.Sprintf("the truth says that %q cannot be told (%s): %s", words, told.Untold.Because, said))
			}
		}
	}
	if told.Result != "Complete" || len(told.Deleted) > 0 {
		says("first pod", told.firstPods()...)
	}
	if deleted := regexp.MustCompile(`(?m)^PODS .*(deleted by|deleted while|pods after it)`); len(told.Deleted) == 0 && deleted.MatchString(text) {
		all = append(all, "nobody deleted a pod")
	}
	for _, d := range told.Deleted {
		says("who deleted "+d.Pod, by(d)...)
	}
	if off := a.timeOff(told, text); off != "" {
		all = append(all, "time: "+off)
	}
	if watched := !strings.Contains(text, "GAP"); watched == (told.Gap != nil) {
		all = append(all, fmt.Sprintf("gap: %v", told.Gap))
	}
	return all
}

// cause returns the sentences of the answer, without their lists of what is missing.
func cause(got *answer) string {
	var said []string
	for line := range strings.Lines(got.text()) {
		line, _, _ = strings.Cut(line, "missing: ")
		said = append(said, line)
	}
	return strings.Join(said, "\n")
}

// firstPods returns the pod with which it began, and the pods that were deleted together with it: the answer names one.
func (t *truth) firstPods() []string {
	all := []string{t.FirstPod}
	i := slices.IndexFunc(t.Deleted, func(d deletion) bool { return d.Pod == t.FirstPod })
	for _, d := range t.Deleted {
		if i >= 0 && d.By == t.Deleted[i].By && d.At.Sub(t.Deleted[i].At).Abs() < time.Second {
			all = append(all, d.Pod)
		}
	}
	return all
}

// timeOff compares how long the Job ran by the explanation and by the watches of the recorder. It skips indexed Jobs:
// their explanation is about one index.
func (a asker) timeOff(told *truth, text string) string {
	found := regexp.MustCompile(`(?m)^TIME .*running ([0-9.]+m?[0-9.]*s)`).FindStringSubmatch(text)
	if found == nil || told.Pods[0].Index != "" || told.Gap != nil { // without a watch the time is unknown
		return ""
	}
	says, err := time.ParseDuration(found[1])
	if err != nil {
		return err.Error()
	}
	var ran time.Duration
	for _, p := range told.Phases {
		if p.Phase == "running" || p.Phase == "restarting" {
			ran += p.To.Sub(p.From)
		}
	}
	if d := (says - ran).Abs(); d > 2*time.Second { // the kubelet's times are whole seconds
		return fmt.Sprintf("it ran %s, the answer says %s", ran, says)
	}
	return ""
}

// by returns how a log can name the one who deleted a pod: it does not know users.
func by(d deletion) []string {
	switch {
	case d.Ours:
		return []string{"by Jobledger"}
	case d.By == builtin:
		return []string{"by the Job's controller"}
	case d.How == "evict":
		return []string{"eviction API"}
	case strings.HasSuffix(d.By, ":pod-garbage-collector"):
		return []string{"pod garbage collection"}
	case d.By == "system:kube-scheduler":
		return []string{"preempted"}
	case strings.HasSuffix(d.By, ":node-controller"):
		return []string{"taint"}
	case strings.HasSuffix(d.By, ":generic-garbage-collector"):
		return []string{"the Job was deleted"}
	case strings.HasSuffix(d.By, ":namespace-controller"):
		return []string{"by an API client", "namespace"}
	default:
		return []string{"by an API client", "by whom is unknown", "which is unknown"}
	}
}

// golden compares a text with the stored one; -update stores it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the answer is not the one that is kept (-update keeps it; say why it is right):\n%s\nit was:\n%s", got, want)
	}
}
