// Package history records every version of the pods and Jobs of a namespace, for tests of rules that must hold at any
// time.
//
// A watch reports all versions of an object in order. The resourceVersions of one etcd order the versions of different
// objects. So a history holds everything that was stored, whoever wrote it. A rule that holds for all of
// [History.Changes] held all the time.
//
// # Concurrency
//
// A History is safe for concurrent use. Objects that it returns are shared; callers must not change them.
//
// Read next: package ledger, which has the rules.
package history
