// Command mutants asks of the tests whether they would notice. It makes small changes in the rules, one at a time: an
// entry of an ordered list skipped or swapped with the next, a condition forced, a comparison off by one, a +1 dropped,
// a statement left out, or one of the values that it assigns. A mutant that every test passes survives, and what it
// changed is not proven. Survivors are listed by the section of the Job contract that the code around them cites.
//
// All mutants of a package are compiled at once: each place asks a variable whether its mutant is the one, and the
// variable is set from the environment. So a mutant costs the time of the tests that reach it, not a build. The changed
// files are an overlay (go build -overlay): the tree stays as it is. The tests are those of scope.go, the fast ones
// first.
//
// There are two scopes. The rules decide what is done; all their mutants are tried. The answers (-of answers) are what
// users are told of a log; there are some 13,500 mutants, so 500 are drawn by a seed, and nine of ten must be killed:
//
//	make mutants OF=answers SEED=7
//
// A seed that somebody tuned tests to says nothing any more: take another. With -unseen no mutant is tried, and those
// are listed that no test reaches in a state in which they could matter (a condition that is forced true was false; two
// numbers were equal). Each of them survives, and the list of all takes five minutes of a processor: it is where tests
// by kind begin, or where code goes that nothing needs.
//
// The answers have many tests, and most mutants are killed by a quick one. So each test is asked by itself which
// mutants it reaches, and of those that reach a mutant the cheapest run first: the quick ones of a package together,
// the others alone. A survivor costs all of them, 20 to 50 seconds of a processor; one that is killed, half a second.
// Survivors are named as they are found, and every 25 mutants there is a line with how many were killed and how long
// the rest may take.
//
// Two samples of 27 November 2026, not of one tree: of seed 1, before the tests below, 115 of some 490 survived; of
// seed 2, after them and after many changes of the answers, 42 of 100. The tests that came of the first fail each read
// of each question once (internal/read/explain, failing_test.go), change each field of each record and page (words,
// show: fields_test.go), and tell recorded incidents as they would be with other values (otherwise_test.go). They found
// reads that failed in silence, "restarted 1 times", and a deadline that was said to be over before it was. Later the
// states, due times, tables and pages of recorded incidents and of small scenes were kept as texts ("AsKept": history,
// duetimes, show), and parts of a log, failed reads and damage compared with the whole (history, duetimes, joblist,
// words). These found a Job that a list had twice after a read that failed once, the end of a command that named a pod
// by its UID, and a newest start that was forgotten behind a stored state.
//
// Later that day scenes were added (internal/read/explain, scenes_*_test.go): a few records each, of which all that is
// told is kept as texts. Of 71 mutants of internal/read/explain, drawn by a seed that nothing was tuned to, 51 were
// killed. Then the scenes next to each scene were summed (neighbours_test.go: without a record, with a damaged one,
// pruned, later, at once), each of their reads failed once, and the pure parts got tables (try, removed, fates,
// late_parts, texts, cases). Of 79 mutants of three seeds that nothing was tuned to, the tests of internal/read/explain
// alone, without its ten longest, killed 66 (83 %); six of those left are reached by none of them. These tests found
// lists of trouble that a failed read left whole, and an explain that ended with a nil pointer where another controller
// took over a CronJob that was held back.
//
// In the evening the errors of reads got one test for all packages (historytest.EachReadFails): each question of
// history, joblist, duetimes and plan is asked once for each place from which the product reads, while that read fails.
// Lists are forged in each of their parts (joblist, forged_test.go), logs are pruned, and pure functions are tried at
// their edges (edges_test.go).
//
// A mutant that changes nothing anybody could see stands in equivalent.txt with the reason; the run fails on one that
// is not there and survives, and on an entry that is killed or no longer exists.
//
// # Concurrency
//
// As many tests run at once as there are processors, each on one: the run is for the night.
package main
