// Package joblog writes the log of a busy cluster, for benchmarks. The real loop decides, and a cluster that obeys it
// answers. Jobs of four sizes run, a tenth of the pods of some fail, and finished Jobs stay for a while before they are
// deleted. The same seed gives the same log, byte for byte. Packages world and drive search for errors; here only pods
// fail.
package joblog
