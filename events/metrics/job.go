package metrics

import (
	"context"
	"errors"
	"math"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/policy"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// job is the state of an unfinished Job, or of the orphan pods of a namespace, as far as metrics need it.
type job struct {
	spec      *spec  // nil until the object is seen
	version   uint64 // newest resourceVersion of the object
	ours      bool
	managedBy string
	observed  bool // another controller runs it, so nothing is counted
	deleted   bool // it has a deletionTimestamp
	gone      bool
	retired   bool
	published shown
	failures  bool // one of its pods has failed and counts
	leaving   int  // pods being deleted that have not ended
	holding   int  // ended pods with the tracking finalizer
	met       bool // it has a record in the current batch
	touched   bool // it has an input in the current batch
	decided   bool // it has a decision with commands in the current batch
	pods      map[types.UID]pod
	flights   map[events.CommandID]*flight
	drops     map[types.UID]events.CommandID // finalizer removals in flight, by pod
	retrying  events.CommandID               // the refused create that is being retried; zero for none
	creates   map[uint64]create              // by ordinal
}

// shown holds the last seen or written counters of a Job's status.
type shown struct {
	succeeded, failed int32
	failedIndexes     int32
	ending            bool // has Complete, Failed, or a condition that announces one of them
	finished          bool
}

// spec is the part of a Job's spec that is kept. Jobs share it.
type spec struct {
	hash          string
	mode          string // value of the label completion_mode; empty for an unknown mode
	perIndex      bool
	failedOnly    bool // podReplacementPolicy Failed
	terminalOnly  bool // a pod counts as failed only in phase Failed (J-024)
	suspend       bool
	policies      *policy.Policies
	jobsThatUseIt int
}

func specOf(s *events.JobSpec) *spec {
	out := &spec{
		hash: s.Hash, mode: nonIndexed, failedOnly: s.PodReplacementPolicy == "Failed", suspend: s.Suspend,
		terminalOnly: s.PodReplacementPolicy == "Failed" || s.PodFailurePolicy != "",
	}
	switch s.CompletionMode {
	case indexed:
		out.mode, out.perIndex = indexed, s.BackoffLimitPerIndex != nil
	case "", nonIndexed:
	default:
		out.mode = "" // such a Job is skipped (J-010)
	}
	if s.PodFailurePolicy != "" {
		out.policies = policy.Of(s)
	}
	return out
}

// specs holds the known specs by hash.
type specs map[string]*spec

// maxUnused bounds the specs that no Job uses. They are kept because the next Job of a CronJob has the same spec as the
// previous one.
const maxUnused = 1000

func (s specs) add(f *events.JobSpec) *spec {
	if s[f.Hash] == nil {
		if len(s) >= 2*maxUnused { // each new TTL of a finished Job makes another spec
			s.forget()
		}
		s[f.Hash] = specOf(f)
	}
	return s[f.Hash]
}

// forget drops the specs that no Job uses.
func (s specs) forget() {
	for hash, p := range s {
		if p.jobsThatUseIt == 0 {
			delete(s, hash)
		}
	}
}

func (s specs) release(p *spec) {
	if p == nil {
		return
	}
	if p.jobsThatUseIt--; p.jobsThatUseIt > 0 || len(s) <= maxUnused {
		return
	}
	s.forget()
}

// find creates the state of a Job from the state that the log had at the start of the process.
func (c *Consumer) find(j *projector.Job) {
	n := &job{
		version: j.Version, ours: j.Managed, managedBy: j.ManagedBy, observed: j.Observed(), deleted: j.Deleted != 0, gone: j.Gone,
		published: shown{
			succeeded: j.Base.Succeeded, failed: j.Base.Failed, failedIndexes: j.Base.FailedIndexes.Len(),
			ending: ending(j.Base.Conditions) != nil, finished: j.Base.Finished(),
		},
		failures: j.FailedCount() > 0,
	}
	if j.Spec != nil {
		n.spec = c.specs.add(j.Spec)
		n.spec.jobsThatUseIt++
	}
	for _, name := range j.AllRetrying() { // only these: the loop decides all others again after a start
		n.launch(name, &flight{command: j.InFlight(name)})
		if command, ok := j.InFlight(name).(*events.CreatePod); ok {
			n.retrying = name
			c.metrics.retrying.add(name, n.creates[command.Ordinal].reason)
		}
	}
	for _, p := range j.Pods() {
		seen := p.PodSeen
		seen.Tracked = p.Held()
		c.podSeen(n, &seen)
	}
	for _, create := range j.Creates() { // creates without a known outcome will be counted later
		n.inDoubt(create.Ordinal)
	}
	c.jobs[j.Stream] = n
}

// seen reports whether the Job's object was seen.
func (j *job) seen() bool { return j.spec != nil }

// counts reports whether a decision about the Job counts as a sync. It does not for Jobs that the built-in controller
// would skip (J-004, J-197).
func (j *job) counts() bool {
	return j.seen() && j.ours && !j.observed && !j.gone && !j.published.finished && j.spec.mode != ""
}

// mode returns the value of the label completion_mode: Indexed or NonIndexed.
func (j *job) mode() string {
	if j.spec == nil {
		return nonIndexed
	}
	return j.spec.mode
}

// limit returns the value of the label backoffLimit: whether the limit is per index or global.
func (j *job) limit() string {
	if j.spec.perIndex {
		return perIndex
	}
	return global
}

// jobSeen updates the state by an observation of the Job's object, and counts what has changed. Errors come from the
// log.
func (c *Consumer) jobSeen(ctx context.Context, j *job, rec *events.Record, f *events.JobSeen) error {
	if f.Version < j.version {
		return nil
	}
	first := !j.seen()
	if first || j.spec.hash != f.Spec {
		spec, err := c.specAt(ctx, f)
		if err != nil {
			return err
		}
		c.specs.release(j.spec)
		spec.jobsThatUseIt++
		j.spec = spec
	}
	j.version, j.ours, j.managedBy, j.deleted, j.gone = f.Version, f.Managed, f.ManagedBy, f.Deleted != 0, false
	c.lookOn(j)
	switch {
	case f.Confirms != events.CommandID{}:
		if known := j.flights[f.Confirms]; known != nil {
			c.answered(j, known, false, rec.Time)
			c.confirmed(j, &known.command.(*events.WriteStatus).Change)
			c.land(j, f.Confirms)
		}
	case f.Status != nil:
		c.statusSeen(j, f.Status, first || c.starting || j.observed)
	}
	return nil
}

// lookOn sets j.observed: another controller runs the Job. If so, its pods no longer count.
func (c *Consumer) lookOn(j *job) {
	j.observed = j.seen() && c.settings.Observes(j.managedBy)
	if !j.observed {
		return
	}
	for uid, p := range j.pods {
		p.held = false
		c.podChanged(j, uid, p)
	}
}

// specAt returns the spec that an observed Job names, from the cache or from the log.
func (c *Consumer) specAt(ctx context.Context, f *events.JobSeen) (*spec, error) {
	if s := c.specs[f.Spec]; s != nil {
		return s, nil
	}
	for rec, err := range c.log.Read(ctx, f.SpecAt) {
		if errors.Is(err, store.ErrPruned) {
			break
		}
		if err != nil {
			return nil, err
		}
		if s, ok := rec.Facts.(*events.JobSpec); ok && s.Hash == f.Spec {
			err := c.specStored(ctx, &rec, s)
			return c.specs[f.Spec], err
		}
		break
	}
	// If the log no longer has the spec's record, keep an empty spec under its hash
	return c.specs.add(&events.JobSpec{Hash: f.Spec}), nil
}

// specStored adds the spec f of a record. The spec's policies are in one of the records that are the record's causes.
// Errors come from the log.
func (c *Consumer) specStored(ctx context.Context, rec *events.Record, f *events.JobSpec) error {
	if f.Policies == "" || c.specs[f.Hash] != nil {
		c.specs.add(f)
		return nil
	}
	for _, at := range rec.Causes {
		for part, err := range c.log.Read(ctx, at) {
			if errors.Is(err, store.ErrPruned) {
				break
			}
			if err != nil {
				return err
			}
			if p, ok := part.Facts.(*events.JobPolicies); ok && p.Hash == f.Policies {
				c.specs.add(f.Whole(p))
				return nil
			}
			break
		}
	}
	c.specs.add(f) // the log no longer has the policies
	return nil
}

// count returns the number of completion indexes in a text such as "0-2,5".
func count(text string) int32 {
	if text == "" {
		return 0
	}
	set := indexset.Parse(text, math.MaxInt32)
	return set.Len()
}
