package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Difference is a way in which a picture of ours may differ from one of upstream.
type Difference struct {
	Rule     string // of the Job contract
	Sentence string // of docs/conformance.md, or why it must be so
	// When says in which scenarios. In all others it is an error.
	When func(Scenario) bool
	// Explains says which lines of a diff are its. Nil: the picture is taken without what differs; see lens.
	Explains func(line string) bool
	// Shows says what a diff must show beside: what makes it this difference and no other. Nil: nothing.
	Shows func(diff string) bool
	// Parts: one Job has ended and the other has not, or the two have other work left. Whatever differs later follows from it.
	Parts bool
}

// These differ in what a picture shows, so it is taken without that.
var (
	finishesFirst = &Difference{
		Rule:     "J-021, J-085, J-234",
		Sentence: "One write finishes a Job, and the finalizers go after it is confirmed. While their removal is refused, upstream does not finish it.",
		When:     func(s Scenario) bool { return s.denies("patch") },
	}
	readyMiscounted = &Difference{
		Rule:     "J-027",
		Sentence: "Upstream takes a pod whose removal was refused for one that is not ready any more. Ours counts the pods that are ready.",
		When:     func(s Scenario) bool { return s.denies("delete") || s.denies("patch") },
	}
	toldWhenStored = &Difference{
		Rule:     "J-194",
		Sentence: "Upstream tells of Suspended and Resumed each time that it tries to store them. Ours tells, once, of what was stored.",
		When:     func(s Scenario) bool { return s.has("deny status") },
	}
	eventsOfTheDead = &Difference{
		Rule:     "J-195",
		Sentence: "Events that a killed process had in memory are lost upstream; ours come from the log. What is done twice depends on when it was killed.",
		When:     func(s Scenario) bool { return s.has("die") || s.has("start") },
	}
)

// Allowed are all differences on purpose. docs/conformance.md has others, which the scenarios do not show: see doc.go.
var Allowed = []*Difference{
	finishesFirst, readyMiscounted, toldWhenStored, eventsOfTheDead,
	{
		Rule:     "J-116",
		Sentence: "Upstream publishes indexes as failed whose pods it deleted because the Job fails, when it was killed in between, or could not store that. Ours never does.",
		When:     func(s Scenario) bool { return s.has("perIndex=") && (s.has("die") || s.has("deny status")) },
		Explains: func(line string) bool { // the reason may follow from how many there are
			return strings.Contains(line, "failedIndexes=") || isLine(line, "-", "BackoffLimitExceeded") || isLine(line, "+", "MaxFailedIndexesExceeded")
		},
		Shows: func(diff string) bool { return sameBut(lines(diff, "failedIndexes="), " failedIndexes=") },
	},
	{
		Rule:     "J-021, J-234",
		Sentence: "A Job ends while the removal of finalizers is refused. Ours has finished it and counted; upstream has not, and counts what happens later: pods that are deleted then, a lower number of completions.",
		When:     func(s Scenario) bool { return s.denies("patch") },
		Explains: func(line string) bool {
			return strings.Contains(line, "completedIndexes=") || strings.Contains(line, ": succeeded=")
		},
	},
	{
		Rule:     "J-118",
		Sentence: "Somebody's pod is adopted by a suspended Job and removed at once. Upstream takes it for the replacement that a failed pod of its index waits for, and counts that; ours waits until the Job is resumed.",
		When:     func(s Scenario) bool { return s.has("perIndex=") && s.has("stray ") && s.has("suspend=true") },
		Explains: func(line string) bool {
			return strings.Contains(line, ": succeeded=") || strings.Contains(line, " Failed deleted=false ")
		},
		Shows: func(diff string) bool {
			return strings.Contains(diff, "finalizers=[batch.kubernetes.io/job-tracking]") && strings.Contains(diff, ": succeeded=0 failed=")
		},
	},
	{
		Rule:     "J-156, J-252",
		Sentence: "Upstream tries for ever to finish a suspended Job without a start time, which the API server refuses. Ours sets it in that write.",
		When:     func(s Scenario) bool { return s.has("suspend=true") },
		Explains: func(line string) bool {
			return isLine(line, "-", "startTime=false") || isLine(line, "+", "startTime=true") ||
				isLine(line, "+", " Failed=True ") || isLine(line, "+", " Complete=True ") || isEnd(line)
		},
		Shows: func(diff string) bool { return strings.Contains(diff, "startTime=false") },
		Parts: true,
	},
	{
		Rule:     "J-236",
		Sentence: "Upstream repeats a decrease of succeeded that the API server refuses, and writes no status any more. Ours keeps the number until it may go down.",
		When:     resizedTwice,
		Explains: func(line string) bool {
			return strings.Contains(line, "active=") || strings.Contains(line, "completedIndexes=") || strings.Contains(line, "startTime=") ||
				isLine(line, "+", ": condition ") || isEnd(line)
		},
		Shows: func(diff string) bool { return strings.Contains(diff, "completedIndexes=") },
		Parts: true,
	},
	{
		Rule:     "J-021",
		Sentence: "A Job is deleted while it ends. Upstream, which ends it with two writes, is too late for the second; ours has said so in its one.",
		When:     func(s Scenario) bool { return s.does("delete") },
		Explains: func(line string) bool { return isEnd("+" + line[1:]) },
		Shows:    toldMore,
	},
	{
		Rule:     "J-057, J-060",
		Sentence: "A create of one index ends in an error each time, and nobody knows whether it took effect. Upstream makes no other pod of the Job. Ours holds that pod's place, and makes those of other indexes.",
		When:     func(s Scenario) bool { return s.deniesCreatesOfOne("error") || s.deniesCreatesOfOne("unavailable") },
		Explains: morePods,
		Shows:    func(diff string) bool { return strings.Contains(diff, "+ pod of ") },
		Parts:    true,
	},
	{
		Rule:     "J-057",
		Sentence: "Creates of one index are refused. Upstream begins with one create each time, so when that is the one, it makes no other pod of the Job. Ours begins with as many as succeeded at once before, so others are on their way.",
		When:     func(s Scenario) bool { return s.deniesCreatesOfOne("") },
		Explains: morePods,
		Shows:    func(diff string) bool { return strings.Contains(diff, "+ pod of ") },
		Parts:    true,
	},
	{
		Rule:     "J-049, J-074",
		Sentence: "The removal of a pod whose index is beyond completions is refused. Upstream makes no pod of the Job while it tries to remove one. Ours makes those that have a place.",
		When:     func(s Scenario) bool { return s.refusesRemovals() && len(s.edits("completions=")) > 0 },
		Explains: morePods,
		Shows:    func(diff string) bool { return strings.Contains(diff, "+ pod of ") },
		Parts:    true,
	},
	{
		Rule:     "J-074",
		Sentence: "A pod ends while its removal is refused, and the Job is resumed at that moment. Upstream finishes the Job without a word of that. Ours gives up the removal first, and says that the Job was resumed.",
		When:     func(s Scenario) bool { return s.has("deny patch") && s.has("suspend=false") },
		Explains: func(line string) bool {
			return isLine(line, "+", " Normal Resumed ") || isLine(line, "-", "Suspended=True") || isLine(line, "+", "Suspended=False")
		},
	},
	{
		Rule:     "J-142",
		Sentence: "A pod is being deleted while its Job succeeds, and keeps its finalizer until it has ended because patches are refused. Upstream counts it as failed. Ours has concluded without it.",
		When:     func(s Scenario) bool { return s.has("deny patch") && s.does("kill") },
		Explains: func(line string) bool { return strings.Contains(line, ": succeeded=") },
		Shows:    fewerFailed,
	},
	{
		Rule:     "J-080",
		Sentence: "A Job fails while DELETE is refused. Upstream says nothing of that before all its pods are deleted, and goes on otherwise if the limit is raised. Ours has said so, and counts its pods.",
		When:     func(s Scenario) bool { return s.has("deny delete") && s.has("backoffLimit=") },
		Explains: func(line string) bool {
			return isLine(line, "+", ": condition ", " FailureTarget=True BackoffLimitExceeded ") || strings.Contains(line, ": succeeded=") ||
				strings.Contains(line, " pod of ") && strings.Contains(line, " Running deleted=false finalizers=[")
		},
		Shows: func(diff string) bool {
			return strings.Contains(diff, "FailureTarget=True BackoffLimitExceeded") && failedMore(diff) && sameBut(lines(diff, " pod of "), " finalizers=")
		},
		Parts: true,
	},
	{
		Rule:     "J-092",
		Sentence: "A Job of more than 500 pods fails, and they exit with 0 when they are deleted. Upstream counts 500 of them, and the others when it looks next: as succeeded, if they have ended by then. Ours counts all as failed, since they ran when the Job failed.",
		When:     func(s Scenario) bool { return s.atOnce() > maxUncounted && strings.Contains(s.Nodes, " clean") },
		Explains: func(line string) bool {
			return strings.Contains(line, ": succeeded=") || strings.Contains(line, "completedIndexes=")
		},
		Shows: func(diff string) bool {
			theirs, mine, ok := counted(diff)
			return ok && theirs.failed >= maxUncounted && theirs.failed < mine.failed && theirs.succeeded+theirs.failed == mine.succeeded+mine.failed
		},
	},
	{
		Rule:     "J-073, J-078",
		Sentence: "DELETE is refused while pods are surplus. Each time that upstream tries, it takes the finalizers of the pods that it would remove now, and among pods of one age that may be others each time: one that stays may have none in the end, and is never counted. Ours stays with those that it began to remove.",
		When:     func(s Scenario) bool { return s.has("deny delete") },
		Explains: func(line string) bool {
			return isLine(line, "-", " pod of ", " Running deleted=false finalizers=[] ") ||
				isLine(line, "+", " pod of ", " Running deleted=false finalizers=["+tracking+"] ")
		},
		Shows: func(diff string) bool { return sameBut(diff, " finalizers=") },
	},
}

// morePods reports whether a line of a diff may follow from a pod that ours has made and upstream has not.
func morePods(line string) bool {
	return strings.Contains(line, " SuccessfulCreate ") || strings.Contains(line, ": active=") || isLine(line, "+", " pod of ", " Running deleted=false ")
}

// fewerFailed reports whether ours counts as many pods of each Job as succeeded as upstream, and fewer as failed.
func fewerFailed(diff string) bool {
	failed := 0 // of ours, less those of upstream
	for line := range strings.Lines(lines(diff, ": succeeded=")) {
		_, text, _ := strings.Cut(line, " failed=")
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return false
		}
		if strings.HasPrefix(line, "-") {
			n = -n
		}
		failed += n
	}
	return failed < 0 && sameBut(lines(diff, ": succeeded="), " failed=")
}

// counts is how many pods of a Job have succeeded and failed.
type counts struct{ succeeded, failed int }

// counted are the counts in a diff that has those of one Job: upstream's, and ours.
func counted(diff string) (theirs, mine counts, ok bool) {
	found := map[byte]counts{}
	for line := range strings.Lines(lines(diff, ": succeeded=")) {
		var c counts
		_, numbers, _ := strings.Cut(line, ": ")
		if _, err := fmt.Sscanf(numbers, "succeeded=%d failed=%d", &c.succeeded, &c.failed); err != nil {
			return theirs, mine, false
		}
		if _, twice := found[line[0]]; twice {
			return theirs, mine, false
		}
		found[line[0]] = c
	}
	return found['-'], found['+'], len(found) == 2
}

// failedMore reports whether ours counts as many pods as succeeded as upstream, and more as failed.
func failedMore(diff string) bool {
	theirs, mine, ok := counted(diff)
	return ok && theirs.succeeded == mine.succeeded && theirs.failed < mine.failed
}

// maxUncounted is how many pods upstream counts when it looks once (MaxUncountedPods).
const maxUncounted = 500

// atOnce is how many pods a Job of the scenario has at once, at most.
func (s Scenario) atOnce() (most int) {
	for _, word := range strings.Fields(s.String()) {
		if text, ok := strings.CutPrefix(word, "parallelism="); ok {
			if n, err := strconv.Atoi(text); err == nil {
				most = max(most, n)
			}
		}
	}
	return most
}

// resizedTwice: completions change, and parallelism in a later edit.
func resizedTwice(s Scenario) bool {
	first, last := s.edits("completions="), s.edits("parallelism=")
	return len(first) > 0 && len(last) > 0 && first[0] < last[len(last)-1]
}

// toldMore reports whether ours has told of each Event in a diff more often than upstream. Such a line ends with how often: x2.
func toldMore(diff string) bool {
	more := map[string]int{}
	for line := range strings.Lines(strings.TrimSpace(diff)) {
		at := strings.LastIndex(line, " x")
		if at < 2 {
			return false
		}
		n, err := strconv.Atoi(strings.TrimSpace(line[at+2:]))
		if err != nil {
			return false
		}
		if line[0] == '-' {
			n = -n
		}
		more[line[2:at]] += n
	}
	for _, n := range more {
		if n <= 0 {
			return false
		}
	}
	return true
}

// isEnd reports whether a line is an Event of ours that a Job has ended.
func isEnd(line string) bool {
	return isLine(line, "+", "event of", " Normal Completed ") || isLine(line, "+", "event of", " Warning ") && !strings.Contains(line, " Warning Failed")
}

// isLine reports whether a line of a diff has that sign and all those words.
func isLine(line, sign string, words ...string) bool {
	for _, word := range words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return strings.HasPrefix(line, sign)
}

// lines are those of a diff that have the text.
func lines(diff, text string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		if strings.Contains(line, text) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// sameBut reports whether the lines of both are the same up to that text.
func sameBut(diff, text string) bool {
	count := map[string]int{}
	for line := range strings.Lines(diff) {
		line, _, _ = strings.Cut(line, text)
		if mine, ok := strings.CutPrefix(line, "+ "); ok {
			count[mine]++
		} else {
			count[strings.TrimPrefix(line, "- ")]--
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// allowed are the differences that a scenario may show.
func (s Scenario) allowed() []*Difference {
	if len(s.CronJobs) > 0 {
		return AllowedOfCronJobs
	}
	return Allowed
}

// lens is what a picture is taken without.
type lens map[*Difference]bool

// through is the lens for a scenario.
func through(s Scenario) lens {
	l := lens{}
	for _, d := range s.allowed() {
		l[d] = d.Explains == nil && d.When(s)
	}
	return l
}

// has reports whether a line or a deed of the scenario has the text, at the beginning of a word.
func (s Scenario) has(text string) bool {
	for _, line := range strings.Split(s.String(), "\n") {
		if strings.Contains(" "+line, " "+text) {
			return true
		}
	}
	return false
}

// deniesCreatesOfOne: creates of some of the pods are refused, or end in an error of that class.
func (s Scenario) deniesCreatesOfOne(class string) bool {
	for _, step := range s.Steps {
		for _, deed := range step.Deeds {
			words := append(strings.Fields(deed), "")
			if len(words) > 3 && words[0] == "deny" && words[1] == "create" && strings.Contains(words[2], ":") && words[3] == class {
				return true
			}
		}
	}
	return false
}

// edits are the steps, by number, in which a Job is edited so.
func (s Scenario) edits(field string) (steps []int) {
	for n, step := range s.Steps {
		if slices.ContainsFunc(step.Deeds, func(deed string) bool {
			return strings.HasPrefix(deed, "edit ") && strings.Contains(deed, " "+field)
		}) {
			steps = append(steps, n)
		}
	}
	return steps
}

// refusesRemovals: finalizers are not taken from pods, or pods are not deleted, at some time.
func (s Scenario) refusesRemovals() bool { return s.has("deny patch") || s.has("deny delete") }

// does reports whether the scenario has a deed of that verb.
func (s Scenario) does(verb string) bool {
	for _, step := range s.Steps {
		for _, deed := range step.Deeds {
			if strings.HasPrefix(deed, verb+" ") {
				return true
			}
		}
	}
	return false
}

// denies reports whether such requests are refused at the end.
func (s Scenario) denies(verb string) bool {
	refused := false
	for _, step := range s.Steps {
		for _, deed := range step.Deeds {
			refused = deed != "allow" && (refused || strings.HasPrefix(deed+" ", "deny "+verb+" "))
		}
	}
	return refused
}
