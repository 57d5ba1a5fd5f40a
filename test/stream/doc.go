// Package stream kills what the NATS stream consists of, as real processes with SIGKILL and at random: the publisher,
// which also writes the log, the NATS server and the subscribers: "jobledger subscribe", programs with the Go package
// for subscribers, and ones with nats.go alone.
//
// What must hold after it: each subscriber has every record of the log that it asked for; those of one Job in their
// order; and what it has twice has the same ID and the same content. The stream itself holds each record once, in the
// order of the log.
//
// And it does to the stream what people and broken disks do: deletes it, purges it, wipes the server's store and puts
// an older copy of it back, under load. What must hold then: "jobledger subscribe", live, durable and with a command,
// is handed no record before one that it took, and one that it is not handed it is told of.
package stream
