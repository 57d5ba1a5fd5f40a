// Package sidebyside lets a benchmark measure several things in one run and report how they compare.
//
// On a machine that others use too, a time says little and a time from another minute says nothing. So [Compare]
// measures its sides in turn, in every order, forms every ratio within one round, and reports the median of the rounds:
// what slows the machine for a while slows both sides of a ratio.
//
// Where nothing waits for a disk, [Computing] counts processor time instead of time.
//
// What is reported is the cost of each side ("log-ns/record") and, for each side but the first, how fast the first one
// is by its measure ("speed/floor": 1 is as fast, 0.5 takes twice as long). Lower costs and higher speeds are better.
// The output is that of any Go benchmark, for benchstat.
package sidebyside
