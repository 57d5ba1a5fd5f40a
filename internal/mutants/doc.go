// Command mutants asks of the tests whether they would notice. It makes small changes in the rules, one at a time: an entry of an
// ordered list skipped or swapped with the next, a condition forced, a comparison off by one, a +1 dropped, a statement left
// out, or one of the values that it assigns. A mutant that every test passes survives, and what it changed is not proven. Survivors
// are listed by the section of the Job contract that the code around them cites.
//
// All mutants of a package are compiled at once: each place asks a variable whether its mutant is the one, and the variable is set
// from the environment. So a mutant costs the time of the tests that reach it, not a build. The changed files are an overlay
// (go build -overlay): the tree stays as it is. The tests are those of scope.go, the fast ones first.
//
// There are two scopes. The rules decide what is done; all their mutants are tried. The answers (-of answers) are what users are told of
// a log; there are ten thousand mutants, so a sample is drawn by a seed, and nine of ten must be killed:
//
//	make mutants OF=answers SAMPLE=500 SEED=7 LEAST=90
//
// A mutant that changes nothing anybody could see stands in equivalent.txt with the reason; the run fails on one that is not
// there and survives, and on an entry that is killed or no longer exists.
//
// # Concurrency
//
// As many tests run at once as there are processors, each on one: the run is for the night.
package main
