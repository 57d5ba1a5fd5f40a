// Package joblog writes the log of a busy cluster, for benchmarks: the real loop decides, and a cluster that does what
// it is told answers. Jobs of four sizes run, a tenth of the pods of some fail, what is finished stays for a while and
// is deleted. The same seed gives the same log, to the last byte. Packages world and drive are for finding mistakes;
// here nothing goes wrong but pods.
package joblog
