// Command mutants tests the tests. It makes small changes in the code, one at a time: an entry of an ordered list
// skipped or swapped with the next, a condition forced, a comparison off by one, a +1 dropped, a statement left out, or
// one of the values that it assigns. A mutant survives if every test passes; then no test proves the changed code.
// Survivors are listed by the section of the Job contract that the code around them cites.
//
// All mutants of a package are compiled at once. Each place compares its number with a variable that is set from the
// environment. A mutant therefore costs the time of the tests that reach it, and no build. The changed files are an
// overlay (go build -overlay); the work tree does not change. The tests are those of scope.go, the fast ones first.
//
// There are two scopes. The rules decide what is done; all their mutants are tried. The answers (-of answers) tell
// users about a log; they have about 15,700 mutants, so a sample of 500 is drawn by a seed, and 90 % of it must be
// killed:
//
//	make mutants OF=answers SEED=7
//
// A seed to which tests were tuned proves nothing any more: take another. With -unseen no mutant is tried. It lists the
// mutants that no test reaches in a state in which they could matter: a condition that is forced true was false, or two
// numbers were equal. Each of them survives. The list of all takes five minutes of processor time. It shows where to
// write tests for a kind of code, or where to delete code that nothing needs.
//
// With -in and -by one package is judged by some tests, in a minute or two:
//
//	go run ./internal/dev/mutants -of answers -in explain/cron$ -by room-cron
//
// The answers have many tests, and a quick test kills most mutants. A first run records which mutants each test
// reaches. For a mutant, the cheapest tests that reach it run first: the quick tests of a package together, the others
// alone. A survivor costs all of them, 20 to 50 seconds of processor time; a killed mutant costs half a second.
// Survivors are printed as they are found. After every 25 mutants a line says how many were killed and how long the
// rest may take.
//
// Two samples of 27 November 2026, of different trees: of seed 1, before the tests below, 115 of about 490 survived; of
// seed 2, after them and after many changes of the answers, 42 of 100. The tests that followed from the first sample
// fail each read of each question once (internal/read/explain, failing_test.go), change each field of each record and
// page (words, show: fields_test.go), and explain recorded incidents with changed values (otherwise_test.go). They
// found reads that failed in silence, "restarted 1 times", and a deadline reported as over too early. Later the states,
// due times, tables and pages of recorded incidents and of small scenes were stored as texts ("AsKept": history,
// duetimes, show), and parts of a log, failed reads and damage were compared with the whole (history, duetimes,
// joblist, words). These found a Job listed twice after a read that failed once, the end of a command that named a pod
// by its UID, and a newest start that was forgotten behind a stored state.
//
// Later that day scenes were added (internal/read/explain, scenes_*_test.go): a few records each, with everything that
// is told about them stored as texts. Of 71 mutants of internal/read/explain, drawn by a seed to which nothing was
// tuned, 51 were killed. Then the neighbours of each scene were summed (neighbours_test.go: without a record, with a
// damaged one, pruned, later, at once), each of their reads failed once, and the pure parts got tables (try, removed,
// fates, late_parts, texts, cases). Of 79 mutants of three seeds to which nothing was tuned, the tests of
// internal/read/explain alone, without the ten longest, killed 66 (83 %); six of the survivors are reached by none of
// them. These tests found lists of trouble that a failed read left whole, and an explain that ended with a nil pointer
// when another controller took over a CronJob that was held back.
//
// In the evening the errors of reads got one test for all packages (historytest.EachReadFails): it asks each question
// of history, joblist, duetimes and plan once for each place from which the product reads, and that read fails. Lists
// are forged in each of their parts (joblist, forged_test.go), logs are pruned, and pure functions are tried at their
// edges (edges_test.go).
//
// On 29 November 2026 the rooms of the answers had been divided, and got tables of their own: runs and due times in a
// row, other Jobs of a record or two, lacks of pods, causes, a Keeper's steps. Packages ask and which were added, with
// each question asked of recorded logs. No new seed was drawn that day: the machine was busy.
//
// On 30 November 2026 history, joblist and ask got tests of whole values: what each field of a record changes, a list
// that goes on beside one that is made at once, and questions with one record damaged in turn.
//
// The sample of seed 5200, of that day's tree: 437 of 500 were killed (87.4 %), and 7 of these did not end in time. The
// tests that followed judge the kinds of its survivors. One suite more judges: the answers about simulated Jobs
// (internal/dev/sim/drive, TestAnswersOfSeeds).
//
// The sample of seed 5300, of the evening's tree: 443 of 500 were killed, six of which did not end in time. 18 of the 57
// survivors make no difference: 11 have a reason since, and the conditions of seven were deleted, as nothing needs them.
// So 443 of 482 were killed that anybody can tell from the original (91.9 %). Thirteen of the other 39 are killed since.
//
// A mutant that makes no visible difference is listed in equivalent.txt with the reason. The run fails on an unlisted
// survivor, and on an entry that is killed or no longer exists.
//
// # Concurrency
//
// As many tests run at once as there are processors, each on one; GOMAXPROCS=1 leaves the other processors to others.
// The run takes a night.
package main
