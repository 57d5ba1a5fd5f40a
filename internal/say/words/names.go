package words

import (
	"iter"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Names remembers the names in records, to describe later records: of Jobs by stream (the records about one object), of
// pods by UID, and commands by ID. It forgets the names of a Job when nothing is left to do for it, or when its object,
// pods and commands are gone. So its size does not grow with the length of the log. It is not safe for concurrent use.
type Names struct {
	// Stream, Back and Record look up records that Names did not learn. Stream reads a stream from its first record on,
	// Back reads from a record toward the first, and Record reads one record. They may be nil.
	Stream func(events.Stream) iter.Seq2[events.Record, error]
	Back   func(events.Stream, events.Sequence) iter.Seq2[events.Record, error]
	Record func(events.Sequence) (events.Record, error)
	// Zone is the time zone of times in texts.
	Zone Zone

	streams map[events.Stream]*streamNames
}

type streamNames struct {
	job    events.JobRef
	looked bool // the records were searched for the name of the Job
	gone   bool // the Job's object is deleted
	pods   map[types.UID]string
	specs  map[events.Sequence]*events.JobSpec // specs of the Job, by the record that stores them
	seen   [2]sighted                          // the newest two times that the Job was seen, the newest first
	// commands are the commands in flight (without an outcome so far). Package follow also has them, but it reads a
	// log. This package must work without a log, for subscribers to NATS.
	commands map[events.CommandID]events.Command
	newest   events.Sequence // newest record that Learn got
	before   events.Sequence // record at which lookBack continues; 0 if it has nothing left to read
}

func (n *Names) of(s events.Stream) *streamNames {
	known := n.streams[s]
	if known == nil {
		if n.streams == nil {
			n.streams = map[events.Stream]*streamNames{}
		}
		known = &streamNames{pods: map[types.UID]string{}, commands: map[events.CommandID]events.Command{}}
		switch s.Kind {
		case events.StreamJob, events.StreamCronJob:
			known.job.UID = types.UID(s.ID)
		case events.StreamNamespace:
			known.job.Namespace = s.ID
		case events.StreamController:
		}
		n.streams[s] = known
	}
	return known
}

// Learn remembers the names in a record. Call it for each record in the order of the log, before Detail for that
// record.
func (n *Names) Learn(r *events.Record) {
	if r.Stream == events.Controller {
		return
	}
	s := n.of(r.Stream)
	// Records before r are missing here: lookBack must read them, if a name is needed.
	if r.Previous != s.newest || s.newest == 0 {
		s.before, s.seen = r.Previous, [2]sighted{}
	}
	s.newest = r.Sequence
	switch f := r.Facts.(type) {
	case *events.JobSeen:
		s.seen[1], s.seen[0] = s.seen[0], sighted{r.Sequence, f.Spec, f.SpecAt}
		s.called(r)
	case *events.JobGone, *events.CronJobSeen, *events.CronJobGone:
		s.called(r)
	case *events.JobSpec:
		if s.specs == nil {
			s.specs = map[events.Sequence]*events.JobSpec{}
		}
		s.specs[r.Sequence] = f
	case *events.PodSeen:
		s.pod(f.UID, r)
		if s.job.Name == "" {
			s.job.Name = r.Evidence.Owner
		}
	case *events.CommandEnded:
		if f.Type == events.CommandCreatePod {
			s.pod(f.UID, r)
		}
	case *events.Decision:
		for place, c := range f.Commands() {
			if _, ends := c.(*events.Withdraw); !ends { // leave out a Withdraw: no record says how it ended
				s.commands[events.CommandID{Decided: r.Sequence, Place: uint32(place)}] = c
			}
		}
	case *events.StoredState:
		s.stored(r)
	}
}

// Call sets the name of the Job in a stream. It is for callers that do not know the name from a record.
func (n *Names) Call(s events.Stream, job events.JobRef) {
	if s != events.Controller && job.Name != "" {
		known := n.of(s)
		known.job.Namespace, known.job.Name = job.Namespace, job.Name
	}
}

// Issued adds a command in flight (without an outcome so far). It is for callers that do not know it from a record.
func (n *Names) Issued(s events.Stream, name events.CommandID, c events.Command) {
	n.of(s).commands[name] = c
}

func (s *streamNames) called(r *events.Record) {
	if r.Evidence.Name != "" {
		s.job.Namespace, s.job.Name = r.Evidence.Namespace, r.Evidence.Name
	}
}

func (s *streamNames) pod(uid types.UID, r *events.Record) {
	if uid != "" && r.Evidence.Name != "" {
		s.pods[uid] = r.Evidence.Name
	}
	if s.job.Namespace == "" {
		s.job.Namespace = r.Evidence.Namespace
	}
}

// stored takes the names from a checkpoint: a record with the whole state of the Job.
func (s *streamNames) stored(r *events.Record) {
	var names pb.StateNames
	if proto.Unmarshal(r.Evidence.State, &names) != nil {
		return
	}
	if names.GetName() != "" {
		s.job.Namespace, s.job.Name = names.GetNamespace(), names.GetName()
	}
	var state pb.JobState
	f, ok := r.Facts.(*events.StoredState)
	if !ok || len(names.GetPods()) == 0 || proto.Unmarshal(f.Encoded, &state) != nil {
		return
	}
	for i, p := range state.GetPods() {
		if i < len(names.GetPods()) {
			s.pods[events.PodFromWire(p.GetFacts()).UID] = names.GetPods()[i].GetName()
		}
	}
}

// Forget drops names that no later record needs: of a pod that is gone, or of a Job that is done. Call it after a
// record was described.
func (n *Names) Forget(r *events.Record) {
	s := n.streams[r.Stream]
	if s == nil {
		return
	}
	over := false
	switch f := r.Facts.(type) {
	case *events.JobRetired:
		over = true
	case *events.JobGone:
		s.gone = true
	case *events.PodGone:
		delete(s.pods, f.UID)
	case *events.CommandEnded:
		if f.Ending == events.Done || f.Ending == events.Withdrawn || !mayStand(s.commands[f.Command], f.Class) {
			delete(s.commands, f.Command)
		}
	}
	if over || (s.gone && len(s.pods) == 0 && len(s.commands) == 0) {
		delete(n.streams, r.Stream)
	}
}

// mayStand reports whether the controller may try a command again, after a refusal with this class of error, or after
// a try with unknown outcome (class 0).
func mayStand(c events.Command, class events.RefusalClass) bool {
	return c != nil && c.Traits().Retried && class.Passing()
}

// Job returns the name of the Job in a stream (the records about one object). The name is empty if the log does not
// have it.
func (n *Names) Job(s events.Stream) events.JobRef {
	if s == events.Controller {
		return events.JobRef{}
	}
	known := n.of(s)
	if known.job.Name == "" && !known.looked && n.Stream != nil && s.Kind != events.StreamNamespace {
		known.looked = true
		newest, before, seen := known.newest, known.before, known.seen
		for r, err := range n.Stream(s) {
			if err != nil {
				break
			}
			n.Learn(&r)
			if known.job.Name != "" {
				break
			}
		}
		known.newest, known.before, known.seen = newest, before, seen // lookBack goes on from what was shown
	}
	return known.job
}

// Pod returns the name of a pod of the Job in stream s; its UID if the log does not have the name.
func (n *Names) Pod(s events.Stream, uid types.UID) string {
	known := n.of(s)
	if known.pods[uid] == "" && uid != "" && n.Back != nil && s.Kind == events.StreamJob {
		n.lookBack(s, known, uid)
	}
	if name := known.pods[uid]; name != "" {
		return name
	}
	return string(uid)
}

// lookBack reads a stream backward until a record names the pod uid. It continues where the last call stopped.
func (n *Names) lookBack(s events.Stream, known *streamNames, uid types.UID) {
	if known.before == 0 {
		return
	}
	for r, err := range n.Back(s, known.before) {
		if err != nil {
			known.before = 0 // after an error, do not read backward again
			return
		}
		known.before = r.Previous
		switch f := r.Facts.(type) {
		case *events.PodSeen:
			if known.pods[f.UID] == "" {
				known.pod(f.UID, &r)
			}
		case *events.StoredState:
			known.stored(&r)
		}
		if known.pods[uid] != "" {
			return
		}
	}
}

// Command returns a command by its ID: the record of its decision, and its place there. It returns nil if that record
// cannot be read.
func (n *Names) Command(s events.Stream, name events.CommandID) events.Command {
	if c := n.of(s).commands[name]; c != nil {
		return c
	}
	if n.Record == nil {
		return nil
	}
	r, err := n.Record(name.Decided)
	if err != nil {
		return nil
	}
	d, ok := r.Facts.(*events.Decision)
	if !ok {
		return nil
	}
	if commands := d.Commands(); int(name.Place) < len(commands) {
		return commands[name.Place]
	}
	return nil
}

// RecordJSON returns a record as JSON for programs (recordjson.Record). It adds the namespace and the name of the Job,
// which earlier records have.
func (n *Names) RecordJSON(r *events.Record) []byte {
	return recordjson.RecordOf(r, n.Namespace(r), n.Job(r.Stream).Name)
}
