// Package replicametrics has the metrics by which each replica of a log tells what it knows of the others, and how far
// behind it is. They are the same whether the records come through a stream or from the controller that leads.
//
//	v := replicametrics.View{Host: "jobledger-1", AsOf: current, Now: time.Now(), Others: others}
//	v.Collect(all)
//
// It has functions and values only.
package replicametrics
