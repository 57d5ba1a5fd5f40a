// Command natsd runs the NATS server of package natstest: natsd DIR PORT [PEER …]. make test builds it once without the
// race detector, so that tests with the race detector do not run the server, which is not our code, with it.
package main
