package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// scope is a part of the product that is changed (mutated), and the tests that must notice the changes.
type scope struct {
	name     string
	packages []string // paths from the repository's root
	sections bool     // list survivors by the section of the contract that the code cites; otherwise by package
	suites   func(seeds int) []*suite
	sample   int // how many mutants are drawn by default; 0 for all
	least    int // percentage of the mutants that tests must notice
}

var scopes = []scope{
	{"rules", []string{"./projector", "./projector/intake", "./internal/subject/budget", "./internal/subject/cronjob", "./internal/subject/line",
		"./internal/subject/specs", "./internal/subject/surroundings", "./reconciler", "./reconciler/job", "./reconciler/cron", "./reconciler/rules"}, true, ruleSuites, 0, 100},
	{"answers", answering, false, answerSuites, 500, 90},
}

// answering lists the packages that answer users' questions about a log.
var answering = []string{
	"./internal/read/explain",
	"./internal/read/explain/try", "./internal/read/explain/differs", "./internal/read/explain/fates",
	"./internal/read/explain/jobcase", "./internal/read/explain/croncase", "./internal/read/explain/scheduler",
	"./internal/read/explain/late", "./internal/read/explain/ending", "./internal/read/explain/deletion",
	"./internal/read/explain/spent", "./internal/read/explain/stuck", "./internal/read/explain/failing",
	"./internal/read/explain/compare", "./internal/read/explain/verdicts", "./internal/read/explain/attempts",
	"./internal/read/explain/job", "./internal/read/explain/cron", "./internal/read/explain/whynot",
	"./internal/read/explain/failures",
	"./internal/read/history", "./internal/read/joblist", "./internal/read/duetimes", "./internal/subject/ticks",
	"./internal/say/verdict",
	"./internal/say/words", "./internal/read/plan", "./internal/read/show", "./internal/say/recordjson",
	"./internal/read/ask", "./internal/read/which",
}

func scopeOf(name string) (*scope, error) {
	i := slices.IndexFunc(scopes, func(s scope) bool { return s.name == name })
	if i < 0 {
		return nil, fmt.Errorf("-of %s: there are only rules and answers", name)
	}
	return &scopes[i], nil
}

// holds reports whether the mutant of this name is in a package of the scope.
func (s *scope) holds(name string) bool {
	pkg, _, _ := strings.Cut(name, " ")
	return slices.Contains(s.packages, "./"+pkg)
}

// measuring matches the names of tests that count allocations. They are not run, because they take long and prove no
// rule.
const measuring = "Allocations|Costs"

// searching matches the names of tests that try many random histories. The suite "tables" does not run them.
const searching = "^TestCountsThatAreKept|^TestAStateIsTheSame"

func ruleSuites(seeds int) []*suite {
	suites := []*suite{ // the quick suites stand first
		{name: "reconciler", dir: "reconciler", skip: measuring},
		{name: "scripts", dir: "reconciler/loop", only: "^TestScripts$"},
		{name: "tables", dir: "projector", skip: measuring + "|" + searching},
		{name: "loop", dir: "reconciler/loop"},
		{name: "projector", dir: "projector", skip: measuring},
		{name: "observe", dir: "reconciler/observe"},
		{name: "crons", dir: "internal/dev/sim/crons", skip: "^TestAYear"},
	}
	if seeds > 0 {
		suites = append(suites, &suite{
			name: "sim", dir: "internal/dev/sim/drive", only: "^TestSeeds", env: []string{fmt.Sprintf("JOBLEDGER_SEEDS=%d", seeds)},
		})
	}
	return suites
}

// scripts are the command line's test scripts that ask questions about a log.
var scripts = []string{
	"cronjobs", "damaged", "events", "explain", "failures", "findjob", "get", "lists", "names", "plan", "ticks", "times",
}

// asked matches the names of tests of the command line that read unusual logs: of many files, damaged, pruned, or
// still growing.
const asked = "^Test(AnswersBesideDamage|PrunedAndDamaged|NoAnswerHidesDamage|CronJobsInManyFiles|ALogThatChangesItsMode|" +
	"AJobThatIsNoLongerLookedAt|WhatWasPassedOver|Morning|Watch|GetWatches|EventsNameAGap|PointsInHistory|Times|Since|ASpanOfTimesOfDay|" +
	"ATimeOfToday|HintsNameWhatExists|StreamDocument|Node)"

// scenes matches the names of tests that simulate small histories of CronJobs, in both modes, and check what is said
// about them.
const scenes = "^Test(What|TwoLives|EditedSince|Runs|NotHealthy|OneClock|AnotherControllersFates|EachDueTime)"

// incidents names the recorded logs. Each is stored together with all answers about it.
var incidents = []string{"cronjobs-observed", "cronjobs-run", "delegated", "observed", "generated-run", "generated-observe"}

// testedRooms names those packages below internal/read/explain that have tests of their own.
var testedRooms = []string{
	"try", "differs", "fates", "jobcase", "croncase", "late", "ending", "deletion", "spent", "stuck", "failing", "compare", "verdicts",
	"attempts", "job", "cron", "whynot", "failures", "scheduler",
}

func answerSuites(int) []*suite {
	suites := []*suite{ // the order does not matter: of the suites that reach a mutant, the quickest run first
		{name: "told", dir: "internal/read/explain", only: "^TestAnswersAreAsKept$", rows: incidents},
		{name: "lookalikes", dir: "internal/read/explain", only: "^TestLookalikesAreAsKept$"},
		{name: "drawn", dir: "internal/read/explain", only: "^TestDrawnScenes$", rows: []string{"0", "1", "2", "3", "4", "5", "6", "7"}},
		{name: "words", dir: "internal/say/words", apart: true},
		{name: "recordjson", dir: "internal/say/recordjson", apart: true},
		{name: "ticks", dir: "internal/subject/ticks", apart: true},
		{name: "duetimes", dir: "internal/read/duetimes", apart: true},
		{name: "plan", dir: "internal/read/plan", apart: true},
		{name: "ask", dir: "internal/read/ask", apart: true, skip: "^TestSchemas$"},
		{name: "which", dir: "internal/read/which", apart: true},
		{name: "show", dir: "internal/read/show", apart: true},
		{name: "explain", dir: "internal/read/explain", apart: true, skip: "AsKept$|^TestDrawnScenes$"},
		{name: "history", dir: "internal/read/history", apart: true},
		{name: "documents", dir: "cmd/jobledger", only: "^TestIncidentDocuments$|^TestCronJobDocument$", apart: true},
		{name: "scripts", dir: "cmd/jobledger", only: "^TestScripts$", rows: scripts},
		{name: "asked", dir: "cmd/jobledger", only: asked, apart: true},
		{name: "scenes", dir: "internal/dev/sim/crons", only: scenes, apart: true},
		{name: "seeds", dir: "internal/dev/sim/drive", only: "^TestAnswersOfSeeds$"},
		{name: "serve", dir: "internal/read/serve", apart: true},
		{name: "situations", dir: "test/incidents", only: "^TestRecordedSituations$", rows: []string{"run", "observe"}},
		{name: "verdict", dir: "internal/say/verdict", apart: true},
		// No test is skipped here, because what a page of the list costs is part of an answer.
		{name: "joblist", dir: "internal/read/joblist", apart: true},
	}
	for _, room := range testedRooms {
		suites = append(suites, &suite{name: "room-" + room, dir: "internal/read/explain/" + room, apart: true})
	}
	return suites
}

// drawn returns n mutants drawn by a seed, in their original order; n = 0 means all.
func drawn(all []*mutant, n int, seed uint64) []*mutant {
	if n == 0 || n >= len(all) {
		return all
	}
	picked := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:n] //nolint:gosec // the choice is no secret
	slices.Sort(picked)
	out := make([]*mutant, 0, n)
	for _, i := range picked {
		out = append(out, all[i])
	}
	return out
}
