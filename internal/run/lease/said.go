package lease

import (
	"encoding/hex"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/jobledger/jobledger/events"
)

// The annotations of the Lease. The write that takes the Lease sets all of them, so they always describe the current
// holder. Each renewal sets the log's last record again.
const (
	ScopeAnnotation = "jobledger.dev/namespace"     // namespace of the Jobs that the holder runs; * for all
	CronAnnotation  = "jobledger.dev/cronjobs"      // "true" if the holder runs the CronJobs of that scope, too
	LogIDAnnotation = "jobledger.dev/log-id"        //
	EpochAnnotation = "jobledger.dev/log-epoch"     //
	HeadAnnotation  = "jobledger.dev/log-head"      // the newest record that was durable at the renewal
	HashAnnotation  = "jobledger.dev/log-head-hash" // hash of all records of the log through that record
	// identifies the file LOCK in the holder's log directory, which the holder has locked: BOOT/DEVICE/INODE
	LockAnnotation = "jobledger.dev/log-lock"
	MarkAnnotation = "jobledger.dev/log-format" // "1"; missing if a version before the first release wrote it
	// StreamAnnotation names the NATS stream of a replicated log, as NAME/INCARNATION.
	StreamAnnotation = "jobledger.dev/log-stream"
	// ReplicaAnnotation is the ID of the directory of the holder's log, if the log is replicated. No other directory
	// has this ID.
	ReplicaAnnotation = "jobledger.dev/log-replica"
	TakenAnnotation   = "jobledger.dev/taken" // resource version of the write by which the holder took the Lease
)

// Everywhere is the scope of a controller that runs the Jobs of all namespaces.
const Everywhere = "*"

// Log is what a Lease says about the log of its holder.
type Log struct {
	events.Identity
	Head events.Sequence
	Hash events.Hash
	Lock string // identifies the file LOCK that the holder has locked; empty if unknown
	// Stream names the NATS stream of a replicated log, as NAME/INCARNATION; empty otherwise.
	Stream string
	// Replica identifies the directory of a replicated log, also after a restart of the machine; empty otherwise.
	Replica string
}

// Said is what a Lease says; zero if the Lease does not exist.
type Said struct {
	Lease   string    // NAMESPACE/NAME
	Holder  string    // empty if the Lease is released
	Renewed time.Time // when it was renewed, by the holder's clock
	Scope   string    // namespace whose Jobs the holder runs; * for all, empty if the Lease does not say
	Cron    bool      // the holder runs the CronJobs of Scope, too
	// written by a version before the first release; this program cannot read the logs of those versions
	Before bool
	// Acquired is the resource version of the write that took the Lease; 0 if unknown. Versions show the order of the
	// API server's writes.
	Acquired uint64
	Log
}

func saidBy(object *coordinationv1.Lease) Said {
	a := object.Annotations
	s := Said{Lease: object.Namespace + "/" + object.Name, Scope: cut(a[ScopeAnnotation]), Cron: a[CronAnnotation] == yes}
	if h := object.Spec.HolderIdentity; h != nil {
		s.Holder = cut(*h)
	}
	if t := object.Spec.RenewTime; t != nil {
		s.Renewed = t.Time
	}
	s.LogID, s.Lock = cut(a[LogIDAnnotation]), cut(a[LockAnnotation])
	s.Stream, s.Replica = cut(a[StreamAnnotation]), cut(a[ReplicaAnnotation])
	s.Before = s.LogID != "" && a[MarkAnnotation] == ""
	s.Acquired, _ = strconv.ParseUint(a[TakenAnnotation], 10, 64)
	// Without a number, the holder has written the Lease only once, so the Lease has the version of that write.
	if s.Acquired == 0 {
		s.Acquired = version(object)
	}
	s.Epoch, _ = strconv.ParseUint(a[EpochAnnotation], 10, 64) // 0 if it is no number
	head, _ := strconv.ParseUint(a[HeadAnnotation], 10, 64)
	s.Head = events.Sequence(head)
	if hash, err := hex.DecodeString(a[HashAnnotation]); err == nil && len(hash) == len(s.Hash) {
		copy(s.Hash[:], hash)
	}
	return s
}

// mostText limits how many bytes of a text in a Lease are read. Our texts are shorter; a tenant could write a megabyte,
// which would then appear in logs and errors.
const mostText = 256

func cut(text string) string { return text[:min(len(text), mostText)] }

const yes, mark = "true", "1"

// annotate sets the annotations that say what the holder runs, with which log, and which write took the Lease. taken is
// the version of that write; 0 in that write itself.
func annotate(object *coordinationv1.Lease, c *Config, l Log, taken uint64) {
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	a := object.Annotations
	a[ScopeAnnotation] = c.scope()
	delete(a, TakenAnnotation)
	if taken != 0 {
		a[TakenAnnotation] = strconv.FormatUint(taken, 10)
	}
	delete(a, CronAnnotation) // the previous holder may have set it
	if c.Cron {
		a[CronAnnotation] = yes
	}
	a[LogIDAnnotation], a[MarkAnnotation] = l.LogID, mark
	a[EpochAnnotation] = strconv.FormatUint(l.Epoch, 10)
	a[HeadAnnotation] = strconv.FormatUint(uint64(l.Head), 10)
	a[HashAnnotation] = l.Hash.String()
	a[LockAnnotation] = l.Lock
	for name, value := range map[string]string{StreamAnnotation: l.Stream, ReplicaAnnotation: l.Replica} {
		if a[name] = value; value == "" {
			delete(a, name)
		}
	}
}

// ended reports whether the holder of the Lease has certainly ended. This is so if this process has locked the very
// file LOCK that the holder had locked, of the same log. A copy of the log has another file LOCK, so that the holder
// may be alive.
func (s *Said) ended(own Log) bool {
	return s.Lock != "" && s.Lock == own.Lock && s.Identity == own.Identity &&
		(s.Head < own.Head || s.Head == own.Head && s.Hash == own.Hash)
}
