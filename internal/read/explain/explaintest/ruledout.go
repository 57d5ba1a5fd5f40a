package explaintest

import (
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// excluded has what the section RULED OUT of a Job may exclude, and for each the words by which another sentence would
// say the opposite.
var excluded = []struct {
	what string
	said *regexp.Regexp
}{
	{"pod deletion", regexp.MustCompile(`(?i)\bdeleted (by|while|with|before)|evicted through|preempted|pods after it|was kept .* by finalizer|asked for at`)},
	{"pod deletion by others", regexp.MustCompile(`(?i)evicted|preempted|deleted while .* by an API client|taint manager|garbage collection`)},
	{"eviction or node loss", regexp.MustCompile(`(?i)evict|preempt|taint|DisruptionTarget|node (is |was )?gone|garbage collection|(terminated|rejected) by its (kubelet|node)|not ready`)},
	{"API refusal", regexp.MustCompile(`(?i)\brefused\b|forbidden|exceeded quota`)},
	{"spec edit", regexp.MustCompile(`field manager|→`)},
	{"deadline", regexp.MustCompile(`(?i)deadline ?exceeded|activeDeadlineSeconds \d+ passed|deadline passed`)},
	{"unwatched time", regexp.MustCompile(`\bGAP\b`)},
}

// ruledOut checks that no other sentence says what the section RULED OUT excludes.
func ruledOut(a *explain.Answer, _ *facts) (out []claim) {
	rules := section(a, "RULED OUT")
	if len(rules) == 0 || rules[0].Detail {
		return nil
	}
	listed := strings.Split(rules[0].Text, ", ")
	for _, x := range excluded {
		for _, what := range listed {
			if what != x.what {
				continue
			}
			for _, s := range a.Sections {
				if s.Head == "RULED OUT" || s.Head == "CHANGED" || s.Head == "ALSO" || // about other Jobs
					s.Head == "WAITED" { // words of the scheduler: "preemption is not helpful", "untolerated taint"
					continue
				}
				// These sections may name an edit: who created the Job, and what admission changed.
				if (s.Head == "TICK" || s.Head == "ADMISSION") && what == "spec edit" {
					continue
				}
				for _, y := range s.Sentences {
					if x.said.MatchString(asserted(y.Text)) {
						out = append(out, claim{"RULED OUT " + what, s.Head + " " + y.Text})
					}
				}
			}
			if x.said.MatchString(asserted(a.Verdict.Text)) {
				out = append(out, claim{"RULED OUT " + what, a.Verdict.Text})
			}
		}
	}
	return out
}

// denied matches the part of a sentence that rules causes out: "; not by Jobledger, eviction, preemption (asked for at
// 12:13:09)".
var denied = regexp.MustCompile(`; not by [^(;]*(?:\(none of [^)]*\)[^(;]*)?`)

// asserted returns what a sentence itself claims: it removes quotes, and what the sentence rules out.
func asserted(text string) string {
	return denied.ReplaceAllString(quoted.ReplaceAllString(text, ""), "")
}
