// Package port reserves TCP ports of the loopback interface for servers of tests that restart at the same address.
//
// A port that was only found free can be lost before the server listens: every other test, and every connection of the
// machine, gets ports from the same range.
package port
