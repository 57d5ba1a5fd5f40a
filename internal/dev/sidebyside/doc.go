// Package sidebyside lets a benchmark measure several things in one run and report how they compare.
//
// On a shared machine a time means little, and times of different minutes cannot be compared. [Compare] therefore
// measures its sides in turn, in changing order, forms each ratio within one round, and reports the median of the
// rounds. A slow phase of the machine affects both sides of a ratio.
//
// If the work does not wait for a disk, use [Computing], which counts processor time.
//
// The report has the cost of each side ("log-ns/record") and, for each side but the first, the speed of the first side
// relative to it ("speed/floor": 1 is as fast, 0.5 takes twice as long). Lower costs and higher speeds are better. The
// output is that of any Go benchmark, for benchstat.
package sidebyside
