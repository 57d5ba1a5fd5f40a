// Package port keeps TCP ports of loopback for servers of tests that come and go at one address.
//
// A port that was found free and released may be taken when a server wants it: every test beside it, and every
// connection on the machine, is given one of the same range.
package port
