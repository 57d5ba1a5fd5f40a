package minors

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// finding is a finding in 'doctor -o json'.
type finding struct{ Check, Level, Text, Do string }

// doctorTellsTheTruth compares the output of doctor, in each mode, with what the server really serves.
func (s *server) doctorTellsTheTruth() {
	s.Helper()
	for _, mode := range []string{"observe", "delegated", "all"} {
		for _, gang := range []bool{false, true} {
			s.doctorIn(mode, gang)
		}
	}
}

func (s *server) doctorIn(mode string, gang bool) {
	s.Helper()
	args := []string{"doctor", "--manage=" + mode, fmt.Sprintf("--gang-scheduling=%t", gang), "--kubeconfig", s.cp.Kubeconfig()}
	out, code := s.examine(append(args, "-o", "json")...)
	var document struct {
		Worst string
		Items []finding
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		s.Fatalf("doctor printed %s: %v", out, err)
	}
	var said []string // of the checks of the server
	problems := 0
	for _, f := range document.Items {
		if f.Level == "problem" {
			problems++
		}
		if f.Check == "server" || f.Check == "features" {
			said = append(said, fmt.Sprintf("%s %s: %s", f.Level, f.Check, f.Text))
			if (f.Level == "problem" || f.Level == "warning") && f.Do == "" {
				s.Errorf("doctor does not say what to do about %q", f.Text)
			}
		} else if f.Level == "problem" {
			s.Errorf("doctor --manage=%s finds a problem of a new cluster: %s", mode, f.Text)
		}
	}
	for line, want := range s.serves.expected(mode, gang, s.minor) {
		begins, contains, _ := strings.Cut(line, " … ")
		found := 0
		for _, got := range said {
			if strings.HasPrefix(got, begins) && strings.Contains(got, contains) {
				found++
			}
		}
		if (found == 1) != want || found > 1 {
			s.Errorf("doctor --manage=%s --gang-scheduling=%t says %q: %t, want %t; it says\n%s", mode, gang, line, found > 0, want, strings.Join(said, "\n"))
		}
	}
	if want := min(problems, 1); code != want {
		s.Errorf("doctor --manage=%s ends with %d and has %d problems", mode, code, problems)
	}
	text, again := s.examine(args...)
	for _, line := range said {
		if _, words, _ := strings.Cut(line, ": "); !strings.Contains(text, words) {
			s.Errorf("the table does not say %q:\n%s", words, text)
		}
	}
	if again != code {
		s.Errorf("doctor ends with %d with -o json, and with %d without", code, again)
	}
	s.Logf("doctor --manage=%s --gang-scheduling=%t, exit code %d:\n%s", mode, gang, code, strings.Join(said, "\n"))
}

// expected maps each "beginning … content" of a message to whether doctor must write it.
func (v serves) expected(mode string, gang bool, minor string) map[string]bool {
	writes, both := mode != "observe", v.dropped["managedBy"] && v.dropped["podReplacementPolicy"]
	all := map[string]bool{
		"note features: … does not stream lists": !v.streams,
		"note features: … mutating.yaml cannot":  !v.mutating && mode == "delegated",
		"problem features: … no Workloads":       gang && !v.gangs && writes,
		"problem features: … so no Job is ours":  v.dropped["managedBy"] && mode == "delegated" && !both,
		"problem features: … do not complete":    both && writes,
	}
	level := "warning features: … "
	if both || v.dropped["managedBy"] && mode == "delegated" {
		level = "problem features: … "
	}
	for field, dropped := range v.dropped {
		all[level+"spec."+field] = dropped && writes
	}
	older := map[string]string{
		"1.32": "5 minor versions", "1.33": "4 minor versions", "1.34": "3 minor versions", "1.35": "2 minor versions", "1.36": "1 minor version",
	}[minor]
	if older == "" {
		all["ok server: … the version of this program's libraries"] = true
	} else {
		all["ok server: Kubernetes "+v.version+", "+older+" older than this program's libraries (1.37), and tried with it"] = true
	}
	return all
}

// examine runs doctor in a wide terminal.
func (s *server) examine(args ...string) (out string, code int) {
	s.Helper()
	cmd := exec.CommandContext(s.ctx, s.program, args...)
	cmd.Env = append(os.Environ(), "COLUMNS=1000")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return string(text), exit.ExitCode()
	} else if err != nil {
		s.Fatalf("%v: %v\n%s", args, err, complaint.String())
	}
	return string(text), 0
}
