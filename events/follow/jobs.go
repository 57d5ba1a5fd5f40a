package follow

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

const (
	// maxJobs is the largest number of unfinished Jobs in the cache. If there would be more, all are dropped from it.
	maxJobs = 50_000
	// maxEnded is the largest number of Jobs in the cache that are over (retired, or their object is deleted). It is
	// small because they get few records, except for a Job with many pods.
	maxEnded = 1_000
)

// Jobs returns the name of the Job or CronJob that a record is about, which few records have themselves.
type Jobs struct {
	Log store.Reader

	known names // unfinished Jobs
	ended names // Jobs that are over: retired, or their object is deleted
}

// names caches the Job of each stream (set of records of one Job); the name is empty when the log does not have it.
type names map[events.Stream]events.JobRef

// Of returns the Job or CronJob that the record is about; zero for other records. Its name is empty when neither the
// record, nor an earlier record of the same stream, nor the same batch has it. Errors come from the log.
func (j *Jobs) Of(ctx context.Context, r *events.Record) (events.JobRef, error) {
	if r.Stream.Kind != events.StreamJob && r.Stream.Kind != events.StreamCronJob {
		return events.JobRef{}, nil
	}
	if ref, ok := Named(r); ok {
		j.keep(r.Stream, ref, ends(r))
		return ref, nil
	}
	ref, ok := j.remembered(r.Stream)
	if !ok {
		var ended bool
		var err error
		if ref, ended, err = j.lookUp(ctx, r); err != nil {
			return events.JobRef{}, err
		}
		j.keep(r.Stream, ref, ended)
	}
	if ref.Namespace == "" {
		ref.Namespace = r.Evidence.Namespace
	}
	return ref, nil
}

// Shown updates the cache: it adds a Job that the record names, and moves a Job that the record ends to the smaller
// cache. Call it for every record, in order, after Of.
func (j *Jobs) Shown(r *events.Record) {
	switch object, subject := r.Subject(); {
	case subject && !object.Gone:
		if ref, ok := Named(r); ok && j.known[r.Stream].Name == "" {
			j.keep(r.Stream, ref, false)
		}
	case ends(r):
		if ref, ok := j.remembered(r.Stream); ok {
			j.keep(r.Stream, ref, true)
		}
	}
}

// ends reports whether the record says that the Job is over, so that few records of it follow.
func ends(r *events.Record) bool {
	_, retired := r.Facts.(*events.JobRetired)
	object, subject := r.Subject()
	return retired || subject && object.Gone
}

func (j *Jobs) remembered(s events.Stream) (ref events.JobRef, ok bool) {
	if ref, ok = j.known[s]; !ok {
		ref, ok = j.ended[s]
	}
	return ref, ok
}

// keep adds a Job to the cache. A Job that is over stays in the smaller cache even if a later record names it, for
// example because its state is stored again.
func (j *Jobs) keep(s events.Stream, ref events.JobRef, ended bool) {
	if _, before := j.ended[s]; ended || before {
		delete(j.known, s)
		j.ended.put(s, ref, maxEnded)
		return
	}
	j.known.put(s, ref, maxJobs)
}

func (n *names) put(s events.Stream, ref events.JobRef, most int) {
	if _, there := (*n)[s]; !there && len(*n) >= most || *n == nil {
		*n = names{}
	}
	(*n)[s] = ref
}

// Named returns the name of the Job or CronJob of the record's stream, if the record has it; else ok is false.
func Named(r *events.Record) (ref events.JobRef, ok bool) {
	ref.UID = types.UID(r.Stream.ID)
	switch f := r.Facts.(type) {
	case *events.JobSeen, *events.JobGone, *events.CronJobSeen, *events.CronJobGone:
		ref.Namespace, ref.Name = r.Evidence.Namespace, r.Evidence.Name
	case *events.StoredState:
		var stored pb.StateNames
		if proto.Unmarshal(r.Evidence.State, &stored) == nil {
			ref.Namespace, ref.Name = stored.GetNamespace(), stored.GetName()
		}
	case *events.PodSeen:
		if f.Owner == ref.UID {
			ref.Namespace, ref.Name = r.Evidence.Namespace, r.Evidence.Owner
		}
	}
	return ref, ref.Name != "" && ref.Namespace != ""
}

// lookUp finds the Job in the log. It reads the stream backward from the record, as far as the log still has it, and
// then forward to the end of the record's batch: the first records of a stream, such as the spec, precede the record
// that names the Job. ended says that the Job was over before the record.
func (j *Jobs) lookUp(ctx context.Context, r *events.Record) (ref events.JobRef, ended bool, err error) {
	for _, dir := range []store.Direction{store.Backward, store.Forward} {
		for other, err := range j.Log.ReadStream(ctx, r.Stream, r.Sequence, dir) {
			if errors.Is(err, store.ErrPruned) {
				break
			}
			if err != nil {
				return events.JobRef{}, false, fmt.Errorf("look for the name of %s: %w", r.Stream, err)
			}
			if dir == store.Forward && other.Time != r.Time {
				break
			}
			ended = ended || dir == store.Backward && ends(&other)
			if ref, ok := Named(&other); ok {
				return ref, ended, nil
			}
		}
	}
	return events.JobRef{UID: types.UID(r.Stream.ID)}, ended, nil
}
