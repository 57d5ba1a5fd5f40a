// Package kubewire reads Kubernetes objects from the protobuf bytes of the API server, field by field, as far as
// Jobledger uses them.
//
// The typed clients of client-go decode whole objects: of a pod some seventy strings, maps and structs, of which
// Jobledger reads ten. This package skips the others. Invariants:
//
//   - Reading the bytes of an object gives the same as decoding it whole and taking its fields (the tests compare the
//     two on random objects).
//   - Unknown fields are skipped where fields are read, and kept where bytes are kept.
//   - Results share no memory with the bytes that were read.
//
// A [Resource] reads the objects of one resource. An answer in JSON is decoded whole, and then read the same way.
// Package request below it lists, watches and writes with the connections of client-go.
//
// Read fields.go first, then meta.go and pod.go.
package kubewire
