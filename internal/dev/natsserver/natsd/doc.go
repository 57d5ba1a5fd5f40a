// Command natsd is the NATS server of package natstest as a program of its own: natsd DIR PORT [PEER …]. make test builds it
// once, plain, so that tests under the race detector do not pay for the races of a server that is not ours.
package main
