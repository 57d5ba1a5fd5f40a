package kube

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Bounds of what is remembered. Beyond them everything is forgotten, and read from the log again when it is needed.
const (
	maxCommands = 20_000
	maxJobs     = 20_000
)

// memory is what records that were read say about records to come: commands whose end will be told, and Jobs' names.
type memory struct {
	log      store.Log
	jobs     map[events.Stream]*jobNote
	commands map[key]*commandNote
	strange  map[events.Sequence]bool // by the record of a spec: its completionMode is one that nobody knows
}

type key struct {
	stream events.Stream
	name   events.CommandName
}

type jobNote struct {
	ref  events.JobRef
	spec events.Sequence // the record with the content of its spec; 0 when not known
}

type commandNote struct {
	command events.Command // nil when it is one that no Event tells of
	told    bool           // its end was told already
}

func newMemory(log store.Log) *memory {
	m := &memory{log: log}
	m.forget()
	return m
}

func (m *memory) forget() {
	m.jobs, m.commands = map[events.Stream]*jobNote{}, map[key]*commandNote{}
	m.strange = map[events.Sequence]bool{}
}

// note remembers what later records may need. It is told every record, in order, after its Events were made.
func (m *memory) note(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.Decision:
		m.noteDecision(rec, f)
	case *events.JobSeen:
		if len(m.jobs) >= maxJobs {
			clear(m.jobs)
		}
		m.jobs[rec.Stream] = noteOf(rec, f)
		if n := m.commands[key{rec.Stream, f.Confirms}]; n != nil {
			n.told = true
		}
	case *events.JobSpec:
		m.noteSpec(rec.Sequence, f)
	case *events.CommandEnded:
		if f.Ending == events.Done || f.Ending == events.Withdrawn { // of others the end may still be told
			delete(m.commands, key{rec.Stream, f.Command})
		}
	case *events.JobRetired:
		delete(m.jobs, rec.Stream)
	}
}

func noteOf(rec *events.Record, f *events.JobSeen) *jobNote {
	return &jobNote{
		ref: events.JobRef{
			Namespace: rec.Evidence.Namespace, Name: rec.Evidence.Name, UID: types.UID(rec.Stream.ID),
		},
		spec: f.SpecAt,
	}
}

func (m *memory) noteDecision(rec *events.Record, d *events.Decision) {
	if rec.Kind != events.KindDecided {
		return // what would have been decided is not carried out
	}
	for place, c := range d.Commands() {
		if c.Traits().Target == events.TargetCommand {
			continue // the create that it gives up may have been made: its end is told
		}
		if len(m.commands) >= maxCommands {
			clear(m.commands)
		}
		name := events.CommandName{Decided: rec.Sequence, Place: uint32(place)}
		m.commands[key{rec.Stream, name}] = &commandNote{command: tellable(c)}
	}
}

// tellable is the command when an Event can tell of its end, and else nil.
func tellable(c events.Command) events.Command {
	write, ok := c.(*events.WriteStatus)
	if tellings[c.Traits().Kind] != (telling{}) || (ok && len(write.Change.Conditions) > 0) {
		return c
	}
	return nil
}

// command is the command whose end the record tells; nil when no Event tells of it, or did already, or the log does not
// hold it any more.
func (m *memory) command(ctx context.Context, rec *events.Record, name events.CommandName) (events.Command, error) {
	k := key{rec.Stream, name}
	n := m.commands[k]
	if n == nil {
		var err error
		if n, err = m.recall(ctx, rec, name); err != nil {
			return nil, err
		}
		m.commands[k] = n
	}
	if n.told {
		return nil, nil
	}
	return n.command, nil
}

// recall reads from the log what was decided, and whether its end was told before the record.
func (m *memory) recall(ctx context.Context, rec *events.Record, name events.CommandName) (*commandNote, error) {
	n := &commandNote{}
	for r, err := range m.log.ReadStream(ctx, rec.Stream, name.Decided, store.Forward) {
		switch {
		case errors.Is(err, store.ErrPruned):
			return n, nil
		case err != nil:
			return nil, err
		case r.Sequence >= rec.Sequence:
			return n, nil
		}
		if d, ok := r.Facts.(*events.Decision); ok && r.Sequence == name.Decided {
			if all := d.Commands(); int(name.Place) < len(all) {
				n.command = tellable(all[name.Place])
			}
		}
		if n.command == nil {
			return n, nil // no Event tells of it, or it is no longer kept
		}
		if end, ok := Ended(&r); ok && end == name && concludes(&r) {
			n.told = true
		}
	}
	return n, nil
}

// concludes reports whether nothing more can be told of a command after its end: one that was refused may go on.
func concludes(rec *events.Record) bool {
	f, outcome := rec.Facts.(*events.CommandEnded)
	return !outcome || f.Ending == events.Done
}

func (m *memory) noteSpec(at events.Sequence, s *events.JobSpec) bool {
	if len(m.strange) >= maxJobs {
		clear(m.strange)
	}
	m.strange[at] = s.CompletionMode != "" && s.CompletionMode != "NonIndexed" && s.CompletionMode != "Indexed"
	return m.strange[at]
}

// unknownMode reports whether the Job that was seen has a completionMode that this program does not know (J-010).
func (m *memory) unknownMode(ctx context.Context, f *events.JobSeen) (bool, error) {
	if strange, known := m.strange[f.SpecAt]; known || f.SpecAt == 0 {
		return strange, nil
	}
	spec, err := m.spec(ctx, f.SpecAt)
	if err != nil || spec == nil {
		return false, err
	}
	return m.noteSpec(f.SpecAt, spec), nil
}

// succeeded is how many pods the Job's stored status counted when the record was made. It is asked for when a Job
// completes by a write that does not change their number, which is rare: the stream is read backward.
func (m *memory) succeeded(ctx context.Context, rec *events.Record) (int32, error) {
	stored := map[events.CommandName]bool{}
	for r, err := range m.log.ReadStream(ctx, rec.Stream, rec.Sequence, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if name, ok := Ended(&r); ok && concludes(&r) {
			stored[name] = true
		}
		switch f := r.Facts.(type) {
		case *events.JobSeen:
			if f.Status != nil {
				return f.Status.Succeeded, nil
			}
		case *events.Decision:
			for place, c := range f.Commands() {
				w, ok := c.(*events.WriteStatus)
				if ok && w.Change.Succeeded != nil && stored[events.CommandName{Decided: r.Sequence, Place: uint32(place)}] {
					return *w.Change.Succeeded, nil
				}
			}
		}
	}
	return 0, nil
}

// job is the Job that the record is about; nil when the log does not hold its name any more.
func (m *memory) job(ctx context.Context, rec *events.Record) (*jobNote, error) {
	if f, ok := rec.Facts.(*events.JobSeen); ok {
		return noteOf(rec, f), nil
	}
	if n := m.jobs[rec.Stream]; n != nil {
		return n, nil
	}
	for r, err := range m.log.ReadStream(ctx, rec.Stream, rec.Sequence, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if f, ok := r.Facts.(*events.JobSeen); ok && r.Evidence.Name != "" {
			n := noteOf(&r, f)
			m.jobs[rec.Stream] = n
			return n, nil
		}
	}
	return nil, nil
}

// completions is that of the Job's spec; nil when it is unset or not known.
func (m *memory) completions(ctx context.Context, j *jobNote) (*int32, error) {
	if j.spec == 0 {
		return nil, nil
	}
	spec, err := m.spec(ctx, j.spec)
	if err != nil || spec == nil {
		return nil, err
	}
	return spec.Completions, nil
}

// spec is the content of a spec that a record stores; nil when the log does not hold it any more.
func (m *memory) spec(ctx context.Context, at events.Sequence) (*events.JobSpec, error) {
	for r, err := range m.log.Read(ctx, at) {
		if errors.Is(err, store.ErrPruned) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if spec, ok := r.Facts.(*events.JobSpec); ok && r.Sequence == at {
			return spec, nil
		}
		break
	}
	return nil, nil
}
