package lease

import (
	"encoding/hex"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/jobledger/jobledger/events"
)

// The annotations of the Lease. The write that takes the Lease sets all of them, and each renewal sets the log's last
// record again. So they always describe the current holder.
const (
	ScopeAnnotation = "jobledger.dev/namespace"     // namespace of the Jobs that the holder runs; * for all
	CronAnnotation  = "jobledger.dev/cronjobs"      // "true" if the holder runs the CronJobs of that scope, too
	LogIDAnnotation = "jobledger.dev/log-id"        //
	EpochAnnotation = "jobledger.dev/log-epoch"     //
	HeadAnnotation  = "jobledger.dev/log-head"      // the newest record that was durable at the renewal
	HashAnnotation  = "jobledger.dev/log-head-hash" // the log's hash chain value after that record
	LockAnnotation  = "jobledger.dev/log-lock"      // identifies the file that the holder has locked: BOOT/DEVICE/INODE
	MarkAnnotation  = "jobledger.dev/log-format"    // "1"; missing before the first release
	// StreamAnnotation names the NATS stream of a replicated log, as NAME/INCARNATION.
	StreamAnnotation = "jobledger.dev/log-stream"
	// ReplicaAnnotation is the ID of the directory of the holder's log, if the log is replicated. No other directory
	// has this ID.
	ReplicaAnnotation = "jobledger.dev/log-replica"
	TakenAnnotation   = "jobledger.dev/taken" // resource version by which the holder took the Lease
)

// Everywhere is the scope of a controller that runs the Jobs of all namespaces.
const Everywhere = "*"

// Log is what a Lease says about its holder's log.
type Log struct {
	events.Identity
	Head events.Sequence
	Hash events.Hash
	Lock string // identifies the holder's LOCK file; empty if unknown
	// Stream names the NATS stream of a replicated log, as NAME/INCARNATION; empty otherwise.
	Stream string
	// Replica identifies the directory of a replicated log, and does not change when the machine restarts; empty
	// otherwise.
	Replica string
}

// Said is the content of a Lease; zero if the Lease does not exist.
type Said struct {
	Lease   string    // NAMESPACE/NAME
	Holder  string    // empty if the Lease is released
	Renewed time.Time // by the holder's clock
	Scope   string    // namespace of the holder's Jobs; * for all, empty if the Lease does not say
	Cron    bool      // the holder runs the CronJobs of Scope too
	Before  bool      // written before the first release, whose logs cannot be read any more
	// Acquired is the resource version of the write that took the Lease; 0 if unknown. Resource versions show the order
	// of the API server's writes.
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
	if s.Acquired == 0 { // the holder has written the Lease only once, with this version
		s.Acquired = version(object)
	}
	s.Epoch, _ = strconv.ParseUint(a[EpochAnnotation], 10, 64) // 0 for a foreign value
	head, _ := strconv.ParseUint(a[HeadAnnotation], 10, 64)
	s.Head = events.Sequence(head)
	if hash, err := hex.DecodeString(a[HashAnnotation]); err == nil && len(hash) == len(s.Hash) {
		copy(s.Hash[:], hash)
	}
	return s
}

// mostText limits how many bytes of a text in a Lease are read. Our texts are shorter, but a tenant could write a
// megabyte, which would appear in logs and errors.
const mostText = 256

func cut(text string) string { return text[:min(len(text), mostText)] }

const yes, mark = "true", "1"

// annotate sets the annotations that say what the holder runs, with which log, and since which version. taken is 0 in
// the write that takes the Lease.
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

// ended reports whether the holder of the Lease has certainly ended: this process holds the lock on the very file LOCK
// that the holder had locked, of the same log. A copy of the log has another LOCK file, and the holder may be alive.
func (s *Said) ended(own Log) bool {
	return s.Lock != "" && s.Lock == own.Lock && s.Identity == own.Identity &&
		(s.Head < own.Head || s.Head == own.Head && s.Hash == own.Hash)
}
