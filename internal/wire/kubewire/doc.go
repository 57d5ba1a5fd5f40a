// Package kubewire reads Kubernetes objects from the protobuf bytes of the API server, field by field, as far as
// Jobledger uses them.
//
// The typed clients of client-go decode an object whole: of a pod some seventy strings, maps and structs, of which
// Jobledger reads ten. Here all else is skipped. Invariants:
//
//   - What is read is what the whole object says: reading the bytes of an object gives the same as decoding it and taking its fields
//     (the tests compare the two on random objects).
//   - Fields that this program does not know are skipped where they are read, and kept where bytes are kept.
//   - Nothing that is returned shares memory with the bytes that were read.
//
// [Resource] is how a resource is read. An answer in JSON is decoded whole, and then read the same way. Package request
// below it lists, watches and writes with the connections of client-go.
//
// Read fields.go first, then meta.go and pod.go.
package kubewire
