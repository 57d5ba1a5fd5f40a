// Package stream kills, at random and with SIGKILL, the real processes that write and read the NATS stream: the
// publisher, which also writes the log; the NATS server; and the subscribers: "jobledger subscribe", programs with the
// Go package for subscribers, and programs with only nats.go.
//
// Then these rules must hold. Each subscriber has received every record that it asked for, and the records of one Job
// in order. Records that it received twice have the same ID and content. The stream itself has each record once, in the
// order of the log.
//
// It also damages the stream as people and broken disks do: under load, it deletes or purges the stream, wipes the
// server's store, or restores an older copy. Then "jobledger subscribe", live, durable and with a command, must receive
// records in order, and must learn of each record that it does not receive.
package stream
