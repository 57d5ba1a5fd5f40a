// Package history records every version of the pods and Jobs of a namespace, for tests of rules that must hold at every
// instant.
//
// A watch reports all versions of an object in order. The resourceVersions of one etcd order the versions of different
// objects. So a history holds what was stored, whoever wrote it, and a rule that holds over [History.Changes] held at
// every instant.
//
// # Concurrency
//
// A History is safe for concurrent use. Objects that it returns are shared; callers must not change them.
//
// Read next: package ledger, which has the rules.
package history
