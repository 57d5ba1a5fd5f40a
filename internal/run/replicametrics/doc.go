// Package replicametrics has the metrics about replication. With them, each replica of a log reports how far behind it
// is, and what it knows about the other replicas. They are the same for a log in a NATS stream and for one that is
// copied from the leading controller.
//
//	v := replicametrics.View{Host: "jobledger-1", AsOf: current, Now: time.Now(), Others: others}
//	v.Collect(all)
//
// It has functions and values only.
package replicametrics
