// Package stream kills the parts of the NATS stream, real processes, with SIGKILL at random: the publisher, which also
// writes the log; the NATS server; and the subscribers: "jobledger subscribe", programs with the Go package for
// subscribers, and programs with only nats.go.
//
// Then these rules must hold. Each subscriber has every record that it asked for, those of one Job in order, and
// records that it got twice have the same ID and the same content. The stream itself has each record once, in the order
// of the log.
//
// It also does to the stream what people and broken disks do: it deletes it, purges it, wipes the server's store and
// restores an older copy, under load. Then "jobledger subscribe", live, durable and with a command, must get records in
// order, and must be told of each record that it does not get.
package stream
