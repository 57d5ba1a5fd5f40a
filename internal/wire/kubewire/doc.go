// Package kubewire reads Kubernetes objects from the protobuf bytes of the API server, field by field, as far as
// Jobledger uses them.
//
//	job, err := kubewire.Jobs.Read(answer)
//
// The typed clients of client-go decode whole objects: some seventy strings, maps and structs of a pod. Jobledger reads
// ten of these, and this package skips the others. Invariants:
//
//   - Reading the bytes of an object gives the same result as decoding the whole object and taking the fields from it
//     (the tests compare the two on random objects).
//   - Unknown fields are skipped where fields are read, and kept where bytes are kept.
//   - Results share no memory with the bytes that were read.
//
// A [Resource] reads the objects of one resource. An answer in JSON is first decoded as a whole, and its result is then
// read in the same way. Package request, below this one, lists, watches and writes with the connections of client-go.
//
// Read fields.go first, then meta.go and pod.go.
package kubewire
