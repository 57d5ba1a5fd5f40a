package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// signatures maps the name of a cause to words by which an answer claims this cause. In an answer about a situation
// with another cause, these words are false.
var signatures = map[string]*regexp.Regexp{
	"client":     regexp.MustCompile(`(deleted|asked for|removed)[^.;]* by an API client|by an API client`),
	"force":      regexp.MustCompile(`\bby force\b`),
	"eviction":   regexp.MustCompile(`(?i)\bevicted\b|\beviction\b`),
	"taint":      regexp.MustCompile(`NoExecute taint|taint manager|Taint manager|for a taint|\btainted\b`),
	"notready":   regexp.MustCompile(`(?i)\bnot ready\b|unreachable`),
	"preemption": regexp.MustCompile(`(?i)\bpreempted\b`),
	"nodegone":   regexp.MustCompile(`(?i)\bnode (is |was )?gone\b|no longer exists|pod garbage collection|PodGC`),
	"nodeaway":   regexp.MustCompile(`the object of node \S+ was deleted`),
	"pressure":   regexp.MustCompile(`(?i)low on resource`),
	"storage":    regexp.MustCompile(`(?i)ephemeral`),
	"shutdown":   regexp.MustCompile(`(?i)shut ?down`),
	"oom":        regexp.MustCompile(`OOM|(?i:out of memory)`),
	"deadline":   regexp.MustCompile(`DeadlineExceeded|deadline|activeDeadlineSeconds`),
	"rejected":   regexp.MustCompile(`(?i)Pod was rejected|rejected by`),
	"pull":       regexp.MustCompile(`ImagePull|ErrImage|InvalidImageName`),
	"config":     regexp.MustCompile(`CreateContainer(Config)?Error`),
	"schedule":   regexp.MustCompile(`Unschedulable|nodes are available|cannot be scheduled`),
	"gate":       regexp.MustCompile(`(?i)SchedulingGated|scheduling gate`),
	"quota":      regexp.MustCompile(`(?i)quota`),
	"refused":    regexp.MustCompile(`(?i)\brefused\b|forbidden|webhook`),
	"suspended":  regexp.MustCompile(`(?i)\bsuspend`),
	"scale":      regexp.MustCompile(`parallelism`),
	"edit":       regexp.MustCompile(`field manager|kubectl-(patch|edit)`),
	"ttl":        regexp.MustCompile(`(?i)ttlSeconds|\bTTL\b`),
	"history":    regexp.MustCompile(`(?i)history limit|HistoryLimit`),
	"replace":    regexp.MustCompile(`(?i)replaced by|policy Replace`),
	"crashloop":  regexp.MustCompile(`CrashLoop`),
	"gap":        regexp.MustCompile(`\bGAP\b|\bgap\b|nobody watched|not watched`),
	"namespace":  regexp.MustCompile(`(?i)namespace .*(deleted|terminat)|with its namespace`),
}

// negated matches words by which a sentence denies something: "not by eviction, preemption, taint", "(none of its rules
// asks for it)".
var negated = regexp.MustCompile(`(?:;|,)? (?:and )?not (?:by|of|an?|its) [^(#;.:]*(?:\([^)]*\))?[^(#;.:]*|no pod had [^;.]*|one more would have [^;.]*|[Nn]othing in its spec[^;.]*|activeDeadlineSeconds is not set|missing: .*`)

// quoted matches text that other programs wrote, such as a kubelet's message in an answer.
var quoted = regexp.MustCompile(`"[^"]*"`)

var exitCode = regexp.MustCompile(`\bexit(?:ed)?(?: code)? (\d+)\b`)

// elsewhere lists the sections of an answer that are about other Jobs, or about things that did not happen.
var elsewhere = []string{"RULED OUT", "ALSO", "CHANGED"}

// statements returns the sentences of an answer that claim that something happened.
func statements(a *explain.Answer) (all []string) {
	all = append(all, a.Verdict.Text)
	if a.Deleted != nil {
		all = append(all, "DELETED "+a.Deleted.Text)
	}
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			if !slices.Contains(elsewhere, s.Head) {
				all = append(all, s.Head+" "+x.Text)
			}
		}
	}
	return all
}

// falsehoods returns the statements that claim something that did not happen. may lists the signatures that are
// allowed.
func falsehoods(t *Told, may []string, said []string) (all []string) {
	for _, text := range said {
		claims := negated.ReplaceAllString(quoted.ReplaceAllString(text, ""), "")
		for name, words := range signatures {
			if m := words.FindString(claims); m != "" && !slices.Contains(may, name) {
				all = append(all, fmt.Sprintf("%q is false (%s): %s", m, name, text))
			}
		}
		for _, m := range exitCode.FindAllStringSubmatch(claims, -1) {
			if code, _ := strconv.Atoi(m[1]); !slices.Contains(t.Exits, int32(code)) {
				all = append(all, fmt.Sprintf("exit code %d is false: %s", code, text))
			}
		}
	}
	slices.Sort(all)
	return all
}

// unsaid returns those groups of regular expressions of which none matches in said.
func unsaid(groups [][]string, said []string) (all []string) {
	text := strings.Join(said, "\n")
	for _, any := range groups {
		if !slices.ContainsFunc(any, func(w string) bool { return regexp.MustCompile("(?i)" + w).MatchString(text) }) {
			all = append(all, strings.Join(any, " | "))
		}
	}
	return all
}
