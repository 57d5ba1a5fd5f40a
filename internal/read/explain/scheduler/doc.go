// Package scheduler reads the scheduler's messages about pods without a node, and adds what the pod's own template
// asks for. From "0/7 nodes are available: 4 node(s) had untolerated taint(s), 1 Insufficient cpu" it makes a
// sentence for each reason, such as "1 Insufficient cpu (requested: main 2)".
//
// # Concurrency
//
// Functions may be called at the same time for different Jobs.
package scheduler
