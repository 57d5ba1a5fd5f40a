// Package stream kills what the NATS stream consists of, as real processes with SIGKILL and at random: the publisher, which
// also writes the log, the NATS server and the subscribers: "jobledger subscribe", programs with the Go package for subscribers, and
// ones with nats.go alone.
//
// What must hold after it: each subscriber has every record of the log that it asked for; those of one Job in their order; and
// what it has twice has the same ID and the same content. The stream itself holds each record once, in the order of the log.
package stream
