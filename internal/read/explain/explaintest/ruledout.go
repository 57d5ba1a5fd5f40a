package explaintest

import (
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// excluded is what an answer may rule out, and the words with which another sentence of it would say that it was so.
var excluded = []struct {
	what string
	said *regexp.Regexp
}{
	{"deletion", regexp.MustCompile(`(?i)\bdeleted (by|while|with|before)|evicted through|preempted|pods after it|was kept .* by finalizer|asked for at`)},
	{"deletion by others", regexp.MustCompile(`(?i)evicted|preempted|deleted while .* by an API client|taint manager|garbage collection`)},
	{"eviction or node loss", regexp.MustCompile(`(?i)evict|preempt|taint|DisruptionTarget|node (is )?gone|garbage collection|ended by its node|not ready`)},
	{"refusal", regexp.MustCompile(`(?i)\brefused\b|forbidden|exceeded quota`)},
	{"spec edit", regexp.MustCompile(`field manager|→`)},
	{"deadline", regexp.MustCompile(`(?i)deadline ?exceeded|activeDeadlineSeconds \d+ passed|deadline passed`)},
	{"gap", regexp.MustCompile(`\bGAP\b`)},
}

// ruledOut: nothing stands under RULED OUT that another sentence says.
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
				if s.Head == "RULED OUT" || s.Head == "CHANGED" || s.Head == "ALSO" || // those are about other Jobs
					s.Head == "WAITED" { // words of the scheduler: "preemption is not helpful", "untolerated taint"
					continue
				}
				if (s.Head == "TICK" || s.Head == "ADMISSION") && what == "spec edit" { // they name who made the Job, and what admission made of pods
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

// denied is what a sentence says that it was not: "; not by Jobledger, eviction, preemption (asked for at 12:13:09)".
var denied = regexp.MustCompile(`; not by [^(;]*(?:\(none of [^)]*\)[^(;]*)?`)

// asserted is a sentence without what it denies, and without words of others.
func asserted(text string) string {
	return denied.ReplaceAllString(quoted.ReplaceAllString(text, ""), "")
}
