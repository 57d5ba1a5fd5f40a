package oracle

import "strings"

// Difference is an intended difference between Jobledger and upstream (the controllers of Kubernetes): a way in which
// their pictures (the final states of their clusters) may differ.
type Difference struct {
	Rule     string // identifier of the rule in docs/contract
	Sentence string // the difference in words, as in docs/conformance.md, or why it must be so
	// When reports whether this difference can appear in a scenario. In all other scenarios it is an error.
	When func(Scenario) bool
	// Explains reports whether this difference can cause a line of a diff. If it is nil, the picture leaves out what
	// differs, so that no line shows it (see lens).
	Explains func(line string) bool
	// Shows reports whether a diff has a feature that only this difference causes. If it is nil, no such feature is
	// needed.
	Shows func(diff string) bool
	// Proves reports the same as Shows, but also from the scenario, because the diff must fit the scenario's actions.
	// If it is nil, no such check is needed.
	Proves func(s Scenario, diff string) bool
	// Parts is true if one Job has ended and the other has not, or if the two controllers have different work left.
	// Every later difference is then a consequence of this one.
	Parts bool
}

// Differences that change many lines of a picture (the final state of a cluster, as lines). The picture leaves these
// lines out.
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

// Allowed lists all intended differences that scenarios without CronJobs show. docs/conformance.md has more.
var Allowed = []*Difference{
	finishesFirst, readyMiscounted, toldWhenStored, eventsOfTheDead,
	{
		Rule:     "J-116",
		Sentence: "Upstream publishes indexes as failed whose pods it deleted because the Job fails, when it was killed in between, or could not store that. Ours never does.",
		When:     func(s Scenario) bool { return s.has("perIndex=") && (s.has("die") || s.has("deny status")) },
		// failedIndexes differ, and their number may decide the reason of the failure
		Explains: func(line string) bool {
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
		Rule: "J-021, J-234",
		Sentence: "An Indexed Job has succeeded while the removal of finalizers is refused, and its completions are lowered before that is allowed again. " +
			"Ours has finished it with all its indexes; upstream finishes it later, with those that are left.",
		When: Scenario.shrinksWhileRefused,
		Explains: func(line string) bool {
			return strings.Contains(line, "completedIndexes=") || strings.Contains(line, ": succeeded=")
		},
		Proves: func(_ Scenario, diff string) bool {
			theirs, mine, ok := counted(diff)
			return ok && theirs.succeeded < mine.succeeded && theirs.failed == mine.failed && trimmed(diff)
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
		Rule: "J-080",
		Sentence: "A Job fails while DELETE is refused. Upstream says nothing of that before all its pods are deleted, and goes on " +
			"otherwise if the limit is raised. Ours has said so, and counts its pods.",
		When: func(s Scenario) bool { return s.has("deny delete") && s.has("backoffLimit=") },
		Explains: func(line string) bool {
			return isLine(line, "+", ": condition ", " FailureTarget=True BackoffLimitExceeded ") ||
				strings.Contains(line, ": succeeded=") ||
				strings.Contains(line, " pod of ") && strings.Contains(line, " Running deleted=false finalizers=[")
		},
		Shows: func(diff string) bool {
			return strings.Contains(diff, "FailureTarget=True BackoffLimitExceeded") && failedMore(diff) &&
				sameBut(lines(diff, " pod of "), " finalizers=")
		},
		Parts: true,
	},
	{
		Rule: "J-092",
		Sentence: "A Job of more than 500 pods fails, and they exit with 0 when they are deleted. Upstream counts 500 of them, and " +
			"the others when it looks next: as succeeded, if they have ended by then. Ours counts all as failed, since they ran when the " +
			"Job failed.",
		When: func(s Scenario) bool { return s.atOnce() > maxUncounted && strings.Contains(s.Nodes, " clean") },
		Explains: func(line string) bool {
			return strings.Contains(line, ": succeeded=") || strings.Contains(line, "completedIndexes=")
		},
		Shows: func(diff string) bool {
			theirs, mine, ok := counted(diff)
			return ok && theirs.failed >= maxUncounted && theirs.failed < mine.failed && theirs.sum() == mine.sum()
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
	{
		Rule: "J-073, J-078",
		Sentence: "DELETE is refused while pods are surplus, and upstream leaves one of them without a finalizer that is not surplus " +
			"when it tries again. That pod ends later: upstream does not count it, and ours, which kept its finalizer, does.",
		When: func(s Scenario) bool { return s.endsOfSurplus() > 0 },
		Explains: func(line string) bool {
			return strings.Contains(line, ": succeeded=") ||
				strings.Contains(line, " pod of ") && strings.Contains(line, " Running deleted=false finalizers=[")
		},
		Proves: func(s Scenario, diff string) bool {
			theirs, mine, ok := counted(diff)
			more := mine.sum() - theirs.sum()
			return ok && theirs.succeeded <= mine.succeeded && theirs.failed <= mine.failed && 0 < more && more <= s.endsOfSurplus() &&
				sameBut(lines(diff, " pod of "), " finalizers=")
		},
	},
	{
		Rule: "T-035",
		Sentence: "The deletion of an expired Job was refused before its expiry was moved, and the Job was touched since. Upstream looks at " +
			"each change, and has forgotten the refusals. Ours, which has no record of the touch, meets a conflict, and counts it with " +
			"the refusals of before: it reads the Job after a backoff, which is a minute at most.",
		When: func(s Scenario) bool {
			return s.has("deny remove") && s.does("touch") && (s.does("stamp") || len(s.edits("ttl=")) > 0)
		},
		Explains: func(line string) bool {
			return isLine(line, "-", "deleted <job ", " foreground=true") && !strings.Contains(line, "late") ||
				isLine(line, "+", "deleted <job ", " foreground=true"+aMinuteLate) && strings.HasSuffix(line, "true"+aMinuteLate)
		},
		Shows: func(diff string) bool { return sameBut(diff, " foreground=") },
	},
}

// maxUncounted is how many pods the built-in controller counts at most in one sync (MaxUncountedPods in its source).
const maxUncounted = 500

// allowed returns the intended differences that this scenario may show.
func (s Scenario) allowed() []*Difference {
	if len(s.CronJobs) > 0 {
		return AllowedOfCronJobs
	}
	return Allowed
}

// lens is a set of intended differences. A picture (the final state of a cluster, as lines) is made without what they
// change, so that the pictures of both controllers are equal.
type lens map[*Difference]bool

// through returns the lens for a scenario: those differences that the scenario may cause and that cannot be
// recognized in the lines of a diff.
func through(s Scenario) lens {
	l := lens{}
	for _, d := range s.allowed() {
		l[d] = d.Explains == nil && d.When(s)
	}
	return l
}
