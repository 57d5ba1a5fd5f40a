package oracle

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// Differences caused by rules of the CronJob contract that Jobledger follows and the built-in controller (upstream)
// does not. cronmends.go changes upstream so that it follows them, too.
var (
	otherOfName = &Difference{
		Rule:     "C-110",
		Sentence: "An entry in the list of active Jobs stays upstream while any object has the Job's name. Ours drops it when that is another one.",
	}
	staleStatus = &Difference{
		Rule:     "C-104, C-172",
		Sentence: "Upstream looks at a CronJob that is older than what it has written, and forgets what it could not write. Ours does not.",
	}
	unknownCreate = &Difference{
		Rule:     "C-163",
		Sentence: "It is unknown whether a Job was made. Upstream creates it again. Ours looks for it first.",
	}
	killedCreate = &Difference{
		Rule: "C-173",
		Sentence: "The controller is killed before it has the answer to the create of a Job, which is there. Upstream finds it when it creates it " +
			"again, and forgets it where other due times have passed since. Ours looks for it first, and its status has that run.",
	}
	clockSet = &Difference{
		Rule:     "C-070, C-225",
		Sentence: "The clock is set. Upstream's timers go on as they are. Ours looks at all CronJobs: their due times are times of the clock. One whose schedule was changed waits for its due time by that clock.",
	}
	ownAnswer = &Difference{
		Rule: "C-109",
		Sentence: "The watch has not shown a Job that the controller itself has made. Upstream reads it each time that it looks at the " +
			"CronJob, so it sees when somebody has deleted it. Ours knows the Job by the answer to its create, and waits for the watch.",
	}
	lookedOnce = &Difference{
		Rule: "C-085",
		Sentence: "A CronJob is due several times in a minute, and a Job has the name of them all. Upstream looks at each, finds the name taken, " +
			"and says in status.lastScheduleTime that the Job ran for it. Ours looks in the next minute again, and makes the same Jobs.",
	}
	asleep = &Difference{
		Rule:     "C-165",
		Sentence: "The name of a Job is taken. Upstream does not look at the CronJob again by itself. Ours does, when what has the name is gone, and when it is due next.",
	}
)

// Mends lists the differences that cronmends.go can remove, by making upstream follow our rule. A long test run fails
// if one of them was never needed.
var Mends = []*Difference{otherOfName, staleStatus, unknownCreate, killedCreate, clockSet, ownAnswer, asleep}

// Differences that change many lines of a picture (the final state of a cluster, as lines). The picture leaves these
// lines out.
var (
	cronEventsOfTheDead = &Difference{
		Rule:     "C-173, C-220",
		Sentence: "Events that a killed process had in memory are lost upstream; ours come from the log. What is done twice depends on when it was killed.",
		When:     func(s Scenario) bool { return s.has("die") || s.has("start") },
	}
	cronOldCaches = &Difference{
		Rule:     "C-103, C-109, C-113",
		Sentence: "While a watch lags, upstream looks at two caches of different age, and tells of Jobs that it did not expect, or misses. Ours knows what it has done.",
		When:     func(s Scenario) bool { return s.has("hold") },
	}
	deletedAgain = &Difference{
		Rule:     "C-126",
		Sentence: "Upstream deletes a finished Job beyond the limits again each time that it looks, while a finalizer holds it. Ours deletes it once.",
		When:     func(s Scenario) bool { return s.does("keep") || s.has("foreground") || s.has("orphan") },
	}
)

// AllowedOfCronJobs lists all intended differences in how CronJobs are run.
var AllowedOfCronJobs = []*Difference{
	cronEventsOfTheDead, cronOldCaches, deletedAgain,
	{
		Rule: "C-092, C-125",
		Sentence: "A Job beyond the limits could not be deleted, and then the CronJob is touched: nothing changes of it that a decision " +
			"reads. Upstream tries again at once. Ours, which has no record of that, tries when it looks next.",
		When: func(s Scenario) bool { return s.has("deny remove") && s.does("touch") },
		Explains: func(line string) bool {
			return strings.Contains(line, " deleted <job ") && strings.Contains(line, deletedAt)
		},
		Shows: deletedLater,
	},
	{
		Rule: "C-092, C-190",
		Sentence: "Jobs are refused, and then the CronJob is touched: nothing changes of it that a decision reads. Upstream asks again at once, and " +
			"its waits go on from then. Ours, which has no record of that, asks when its wait is over.",
		When:     func(s Scenario) bool { return s.has("deny createjob") && s.does("touch") },
		Explains: func(line string) bool { return strings.Contains(line, " Warning FailedCreate ") },
		Shows:    func(diff string) bool { return strings.Contains(diff, "- event of ") },
		Parts:    true,
	},
	{
		Rule: "C-126",
		Sentence: "A Job that is being deleted already ends, and is beyond the limits. Upstream deletes it again, and its entry may go with it, so " +
			"its end is not told. Ours leaves it alone, and tells of its end.",
		When: func(s Scenario) bool { return s.does("keep") || s.has("foreground") || s.has("orphan") },
		Explains: func(line string) bool {
			return isLine(line, "-", " Normal SuccessfulDelete ") || isLine(line, "+", " Normal SawCompletedJob ")
		},
		Shows: toldInstead,
	},
	{
		Rule: "C-105, C-125",
		Sentence: "A finished Job beyond the limits is deleted, and the answer is lost. Upstream tells in the same pass that the Job has ended. Ours, " +
			"which sees meanwhile that it is gone, tells that.",
		When: func(s Scenario) bool { return s.has("deny remove lost") },
		Explains: func(line string) bool {
			return isLine(line, "-", " Normal SawCompletedJob ") || isLine(line, "+", " Normal MissingJob ")
		},
		Shows: goneInstead,
	},
	{
		Rule:     "C-147",
		Sentence: "A Job that is to be replaced has ended, and that was not seen yet. Upstream deletes it. Ours, which reads it first as upstream does, looks at what it has read, and keeps it.",
		When:     func(s Scenario) bool { return s.has("hold jobs") && s.has("policy=Replace") },
		Explains: func(line string) bool {
			return isLine(line, "-", " deleted <job ") || isLine(line, "-", " SuccessfulDelete ") || isLine(line, "+", " SawCompletedJob ") ||
				isLine(line, "+", " job ") || strings.Contains(line, "last success ") || strings.Contains(line, " lastSuccessfulTime=")
		},
		Shows: func(diff string) bool {
			return strings.Contains(diff, "- deleted <job ") && strings.Contains(diff, "+ job ")
		},
		Parts: true,
	},
	{
		Rule: "C-147, C-121",
		Sentence: "A Job that is to be replaced has ended, and that was not seen yet. Ours, which keeps it, keeps as many as upstream: the oldest " +
			"goes in its place.",
		When: func(s Scenario) bool { return s.has("hold jobs") && s.has("policy=Replace") },
		Explains: func(line string) bool {
			return strings.Contains(line, " deleted <job ") || strings.Contains(line, " SuccessfulDelete ") || isLine(line, "+", " SawCompletedJob ") ||
				strings.Contains(line, " job ") || strings.Contains(line, "last success ") || strings.Contains(line, " lastSuccessfulTime=")
		},
		Shows: keptInstead,
		Parts: true,
	},
	{
		Rule: "C-147, C-107",
		Sentence: "A Job that is to be replaced has succeeded, and that was not seen yet. Both delete it, ours as none is kept. Ours has seen " +
			"the success, as it has read the Job; upstream has not, and never will.",
		When: func(s Scenario) bool { return s.has("hold jobs") && s.has("policy=Replace") && s.has("keep=0") },
		Explains: func(line string) bool {
			return isLine(line, "+", "stored of <cronjob ", "last success ") || strings.Contains(line, " lastSuccessfulTime=")
		},
		Proves: func(s Scenario, diff string) bool { return succeededUnseen(diff, s.heldSuccesses(false)) },
	},
	{
		Rule: "C-107",
		Sentence: "A Job succeeds and is deleted before upstream, which takes what is there when it looks, has seen either. Ours takes each version that " +
			"a watch shows.",
		When: func(s Scenario) bool { return s.has("hold jobs") && s.does("remove") },
		Explains: func(line string) bool {
			return isLine(line, "+", "stored of <cronjob ", "last success ") || strings.Contains(line, " lastSuccessfulTime=")
		},
		Proves: func(s Scenario, diff string) bool { return succeededUnseen(diff, s.heldSuccesses(true)) },
	},
}

// toldInstead reports whether each Job whose end only Jobledger reports has an Event about its deletion from upstream
// (the built-in controller), and whether there is at least one such Job.
func toldInstead(diff string) bool {
	jobs := map[string]int{}
	for line := range strings.Lines(diff) {
		if _, job, is := strings.Cut(line, `"Deleted job `); is && line[0] == '-' {
			name, _, _ := strings.Cut(job, `"`)
			jobs[name]++
		}
		if _, job, is := strings.Cut(line, `"Saw completed job: `); is && line[0] == '+' {
			name, _, _ := strings.Cut(job, ",")
			jobs[name]--
		}
	}
	for _, n := range jobs {
		if n < 0 {
			return false
		}
	}
	return len(jobs) > 0
}

// goneInstead reports whether the Jobs that only upstream (the built-in controller) reports as completed are exactly
// those that Jobledger reports as missing, and each as often.
func goneInstead(diff string) bool {
	told := map[string]int{}
	for line := range strings.Lines(diff) {
		of, text, _ := strings.Cut(line, ": Normal ")
		for reason, by := range map[string]int{`SawCompletedJob "Saw completed job: `: 1, `MissingJob "Active job went missing: `: -1} {
			if job, is := strings.CutPrefix(text, reason); is {
				job, _, _ = strings.Cut(job, `"`)
				job, _, _ = strings.Cut(job, ",")
				told[of[2:]+job+text[strings.LastIndex(text, `"`):]] += by
			}
		}
	}
	for _, n := range told {
		if n != 0 {
			return false
		}
	}
	return len(told) > 0
}

// keptInstead reports whether both keep the same number of Jobs, and Jobledger newer ones. For each Job that only
// upstream deletes, Jobledger must delete an older one, or delete one earlier than upstream does. It may delete none
// later.
func keptInstead(diff string) bool {
	const deleted = " deleted <job "
	theirs, ours := map[string]string{}, map[string]string{}
	for line := range strings.Lines(lines(diff, deleted)) {
		job, at, _ := strings.Cut(line, deletedAt)
		switch _, name, _ := strings.Cut(job, deleted); line[0] {
		case '-':
			theirs[name] = at
		case '+':
			ours[name] = at
		}
	}
	kept, gone := 0, 0
	for name := range theirs {
		if ours[name] == "" {
			kept++
		}
	}
	for name, at := range ours {
		if at > cmp.Or(theirs[name], at) || theirs[name] == "" && !slices.ContainsFunc(slices.Collect(maps.Keys(theirs)), func(t string) bool { return name < t }) {
			return false
		}
		if theirs[name] == "" || at < theirs[name] {
			gone++
		}
	}
	return kept > 0 && gone >= kept
}

// succeededLater reports whether Jobledger stores a later lastSuccessfulTime than upstream, and no other field differs.
func succeededLater(diff string) bool {
	const field = " lastSuccessfulTime="
	theirs, said := map[string]string{}, lines(diff, field)
	for line := range strings.Lines(said) {
		if of, at, _ := strings.Cut(line, field); line[0] == '-' {
			theirs[of[1:]] = at
		}
	}
	for line := range strings.Lines(said) {
		if of, at, _ := strings.Cut(line, field); line[0] == '+' && (strings.HasPrefix(at, "unset") || !strings.HasPrefix(theirs[of[1:]], "unset") && at <= theirs[of[1:]]) {
			return false
		}
	}
	return said != "" && sameBut(said, field)
}

// succeededUnseen reports whether only Jobledger stores some successes, each at one of the times in unseen. At the end
// it must know a later success than upstream, or both the same one.
func succeededUnseen(diff string, unseen []string) bool {
	stored := lines(diff, "last success ")
	for line := range strings.Lines(stored) {
		_, said, _ := strings.Cut(line, "last success ")
		if at, _, _ := strings.Cut(said, " at "); line[0] != '+' || !slices.Contains(unseen, at) {
			return false
		}
	}
	ends := lines(diff, " lastSuccessfulTime=") != ""
	return stored != "" && (!ends || succeededLater(diff))
}

// heldSuccesses returns the times at which Jobs succeed while the watch of Jobs is held (delivers nothing). If
// removed is true, it returns only times of Jobs that are also removed before the watch delivers again.
func (s Scenario) heldSuccesses(removed bool) (all []string) {
	now, held, some := world.Start, false, []string(nil)
	for _, step := range s.Steps {
		now = now.Add(step.Wait)
		for _, deed := range step.Deeds {
			switch verb, of, _ := strings.Cut(deed, " "); {
			case verb == "hold" && of == "jobs":
				held = true
			case verb == "release":
				held, some = false, nil
			case verb == "succeed" && held && !removed:
				all = append(all, now.Format(time.RFC3339))
			case verb == "succeed" && held:
				some = append(some, now.Format(time.RFC3339))
			case verb == "remove" && held:
				all, some = append(all, some...), nil
			}
		}
	}
	return all
}

// deletedAt is the text before the time in a line of a picture about a deletion.
const deletedAt = ", background at "

// deletedLater reports whether both controllers delete the same Jobs, and Jobledger each of them later.
func deletedLater(diff string) bool {
	theirs := map[string]string{}
	for line := range strings.Lines(diff) {
		if job, at, _ := strings.Cut(line, deletedAt); line[0] == '-' {
			theirs[job[1:]] = at
		}
	}
	for line := range strings.Lines(diff) {
		if job, at, _ := strings.Cut(line, deletedAt); line[0] == '+' && at <= theirs[job[1:]] {
			// No excuse: Jobledger deletes this Job no later; times have the same form, so they can be compared as
			// text.
			return false
		}
	}
	return diff != "" && sameBut(diff, deletedAt)
}
