// Package history records every version of the pods and Jobs of a namespace, for tests that say what must never be.
//
// A watch tells all versions of an object in their order, and the resourceVersions of one etcd order those of different
// objects. So what a history holds is what was stored, whoever wrote it, and a rule that holds over [History.Changes]
// held at every instant.
//
// # Concurrency
//
// A History is safe for concurrent use. Objects that it hands out are shared; callers must not change them.
//
// Read next: package ledger, which has the rules.
package history
