// Package joblog writes a log for benchmarks, as the controller of a busy cluster would. The real loop decides, and a
// simulated cluster carries out its commands. Jobs of four sizes run, those of one size lose a tenth of their pods, and
// finished Jobs stay for a while before they are deleted. The same seed gives the same log, byte for byte. Packages
// world and drive search for errors with faults of all kinds; here only pods fail.
package joblog
