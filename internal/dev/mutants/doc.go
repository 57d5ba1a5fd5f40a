// Command mutants tests the tests. It makes small changes in the code, one at a time: it skips an entry of an ordered
// list or swaps it with the next one, forces a condition, moves a comparison by one, drops a +1, or leaves out a
// statement or one of the values that it assigns. Such a change is a mutant. A mutant survives if every test passes;
// then no test proves the changed code. Survivors are listed by the section of the Job contract that the code around
// them cites.
//
// All mutants of a package are compiled at once. Each place compares its number with a variable that is set from the
// environment, so a mutant costs no build, only the time of the tests that reach it. The changed files are an overlay
// (go build -overlay); the work tree does not change. The tests are those of scope.go, the fast ones first.
//
// There are two scopes. The scope rules is the code that decides what to do; all its mutants are tried. The scope
// answers (-of answers) is the code that tells users about a log. It has about 15,700 mutants, so a sample of 500 is
// drawn by a seed, and 90 % of it must be killed:
//
//	make mutants OF=answers SEED=7
//
// Take a new seed each time: after tests were written for the survivors of a seed, that seed proves nothing. With
// -unseen no mutant is tried. It lists the mutants that no test reaches in a state in which they could matter: a
// condition that is forced true was false, or two numbers were equal. Each of them would survive. The list takes five
// minutes of processor time. It shows where tests are missing, or where code can be deleted because nothing needs it.
//
// With -in and -by some tests judge one package, in a minute or two:
//
//	go run ./internal/dev/mutants -of answers -in explain/cron$ -by room-cron
//
// The answers have many tests, and a quick test kills most mutants. A first run records which mutants each test
// reaches. For a mutant, the cheapest tests that reach it run first: the quick tests of a package together, each slower
// test alone. A survivor costs all of these tests, 20 to 50 seconds of processor time; a killed mutant costs half a
// second. Survivors are printed as they are found. After every 25 mutants a line says how many were killed and how long
// the rest may take.
//
// # Past samples of the answers
//
// Seeds 1 and 2, 27 November 2026. Of seed 1, 115 of about 490 mutants survived. The tests written for them make each
// read of each question fail once (internal/read/explain, failing_test.go), change each field of each record and page
// (words, show: fields_test.go), and explain recorded incidents with changed values (otherwise_test.go). They found
// reads that failed silently, the text "restarted 1 times", and a deadline reported as over too early. Of seed 2, drawn
// later, 42 of 100 survived. Then states, due times, tables and pages of recorded incidents and of small scenes were
// stored as texts ("AsKept": history, duetimes, show), and answers from parts of a log, after failed reads, and beside
// damage were compared with the answers from the whole log (history, duetimes, joblist, words). This found a Job listed
// twice after a failed read, the end of a command that named a pod by its UID, and a newest start that was lost behind
// a stored state.
//
// The same day scenes were added (internal/read/explain, scenes_*_test.go): a few records each, stored with everything
// that is said about them. Of 71 mutants of internal/read/explain, drawn by a new seed, 51 were killed. Then each scene
// was also played with one change (neighbours_test.go: a record missing, damaged, pruned, later, or at once), each of
// its reads failed once, and the pure parts got tables (try, removed, fates, late_parts, texts, cases). Of 79 mutants
// of three new seeds, the tests of internal/read/explain alone, without the ten longest, killed 66 (83 %); no test
// reached six of the survivors. These tests found lists of trouble that still looked complete after a failed read, and
// a nil pointer in explain when another controller took over a CronJob that was held back.
//
// In the evening one test for all packages was added (historytest.EachReadFails). It asks each question of history,
// joblist, duetimes and plan once for each place in the product that reads, and lets that read fail. Each part of a
// list is forged (joblist, forged_test.go), logs are pruned, and pure functions are tried at their edges
// (edges_test.go).
//
// On 29 November 2026 the packages of the answers had been divided, and got tables of their own: runs and due times in
// a row, other Jobs of a record or two, missing pods, causes, the steps of a Keeper. Packages ask and which were added,
// with each question asked of recorded logs. No new seed was drawn that day.
//
// On 30 November 2026 history, joblist and ask got tests of whole values: what each field of a record changes, a list
// that is continued compared with a list that is made at once, and questions with one record damaged in turn.
//
// Seed 5200, 30 November 2026: 437 of 500 were killed (87.4 %), seven of them by the time limit. Tests were written for
// the kinds of its survivors, and one suite was added: the answers about simulated Jobs (internal/dev/sim/drive,
// TestAnswersOfSeeds).
//
// Seed 5300, the same evening: 443 of 500 were killed, six of them by the time limit. 18 of the 57 survivors make no
// difference: 11 now have a reason, and the conditions of seven were deleted because nothing needs them. So 443 of the
// 482 mutants that make a difference were killed (91.9 %). Thirteen of the other 39 are killed by newer tests.
//
// # Mutants that make no difference
//
// A mutant that changes nothing visible is listed in equivalent.txt with the reason. The run fails on an unlisted
// survivor, and on an entry that is killed or no longer exists.
//
// # Concurrency
//
// As many tests run at once as GOMAXPROCS says, each on one processor. The run takes a night.
package main
