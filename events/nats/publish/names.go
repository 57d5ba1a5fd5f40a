package publish

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

// maxNames bounds how many Jobs' names are remembered. Beyond it all are forgotten, and looked up when they are needed.
const maxNames = 50_000

// names knows what the Jobs are called whose records it was shown. A subject needs the name; few records say it.
type names struct {
	log  store.Reader
	jobs map[events.Stream]events.JobRef // without a name when the log does not say it
}

func newNames(log store.Reader) *names {
	return &names{log: log, jobs: map[events.Stream]events.JobRef{}}
}

// of is what the record is about; without a name when neither it, nor what came before it in its stream, nor its batch says
// one.
func (n *names) of(ctx context.Context, r *events.Record) (events.JobRef, error) {
	if r.Stream.Kind != events.StreamJob && r.Stream.Kind != events.StreamCronJob {
		return events.JobRef{}, nil
	}
	if ref, ok := said(r); ok {
		n.keep(r.Stream, ref)
		return ref, nil
	}
	ref, ok := n.jobs[r.Stream]
	if !ok {
		var err error
		if ref, err = n.lookUp(ctx, r); err != nil {
			return events.JobRef{}, err
		}
		n.keep(r.Stream, ref)
	}
	if ref.Namespace == "" {
		ref.Namespace = r.Evidence.Namespace
	}
	return ref, nil
}

func (n *names) keep(s events.Stream, ref events.JobRef) {
	if len(n.jobs) >= maxNames {
		clear(n.jobs)
	}
	n.jobs[s] = ref
}

// shown drops what a record ends, after its message was made.
func (n *names) shown(r *events.Record) {
	if r.Kind == events.KindJobRetired {
		delete(n.jobs, r.Stream)
	}
}

// said is what the record itself says its Job is called.
func said(r *events.Record) (ref events.JobRef, ok bool) {
	ref.UID = types.UID(r.Stream.ID)
	switch f := r.Facts.(type) {
	case *events.JobSeen, *events.JobGone:
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

// lookUp reads the stream backward from the record, as far as it is kept, and then forward to the end of its batch: what a
// Job's stream begins with, its spec, stands before the record that names the Job.
func (n *names) lookUp(ctx context.Context, r *events.Record) (events.JobRef, error) {
	for _, dir := range []store.Direction{store.Backward, store.Forward} {
		for other, err := range n.log.ReadStream(ctx, r.Stream, r.Sequence, dir) {
			if errors.Is(err, store.ErrPruned) {
				break
			}
			if err != nil {
				return events.JobRef{}, fmt.Errorf("look for the name of %s: %w", r.Stream, err)
			}
			if dir == store.Forward && other.Time != r.Time {
				break
			}
			if ref, ok := said(&other); ok {
				return ref, nil
			}
		}
	}
	return events.JobRef{UID: types.UID(r.Stream.ID)}, nil
}
