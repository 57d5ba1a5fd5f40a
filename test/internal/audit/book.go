package audit

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// book collects the commands of a log, with what the log says about each of them.
type book struct {
	life     events.Identity
	commands []*command
	byName   map[events.CommandID]*command
	byStream map[events.Stream][]*command
	names    map[string][2]string // namespace and name of objects, by UID
	gone     map[events.Stream]bool
	answers  map[backoff][]outcome
	problems []string
}

type backoff struct {
	stream events.Stream
	of     events.Backoff
}

func newBook() *book {
	return &book{
		byName: map[events.CommandID]*command{}, byStream: map[events.Stream][]*command{}, names: map[string][2]string{},
		gone: map[events.Stream]bool{}, answers: map[backoff][]outcome{},
	}
}

// add notes what the next record of the log says about commands: decisions, outcomes, and ends of processes.
func (b *book) add(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.LogCreated:
		b.life = events.Identity{LogID: f.LogID, Epoch: f.Epoch}
	case *events.EpochChanged:
		b.life.Epoch = f.Epoch
		b.cut()
	case *events.TermStarted:
		b.cut()
	case *events.JobSeen, *events.CronJobSeen:
		if rec.Evidence.Name != "" {
			b.names[rec.Stream.ID] = [2]string{rec.Evidence.Namespace, rec.Evidence.Name}
		}
	case *events.RunSeen:
		b.names[string(f.Job)] = [2]string{b.namespace(rec), f.Name}
	case *events.PodSeen:
		if rec.Evidence.Name != "" {
			b.names[string(f.UID)] = [2]string{b.namespace(rec), rec.Evidence.Name}
		}
	case *events.PodGone:
		if b.gone[rec.Stream] || rec.Stream.Kind == events.StreamNamespace {
			b.leave(rec.Stream)
		}
	case *events.JobGone, *events.JobRetired, *events.CronJobGone:
		b.gone[rec.Stream] = true
		b.leave(rec.Stream)
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			b.decide(rec, f)
		}
	case *events.CommandEnded:
		b.end(rec, f)
	}
}

// namespace returns the namespace of the object that a record is about. If the record does not name it, it is that of
// the record's Job or CronJob.
func (b *book) namespace(rec *events.Record) string {
	switch {
	case rec.Evidence.Namespace != "":
		return rec.Evidence.Namespace
	case rec.Stream.Kind == events.StreamNamespace:
		return rec.Stream.ID
	}
	return b.names[rec.Stream.ID][0]
}

// cut notes that the controller's process ended here. Each command that was not finished may have made one write that
// the log does not know.
func (b *book) cut() {
	for _, c := range b.commands {
		if !c.over {
			c.cuts++
		}
	}
}

// leave notes that a Job or CronJob (stream s), or the last of its pods, is gone. The log records no more outcomes of
// its commands, so their writes may be missing there.
func (b *book) leave(s events.Stream) {
	for _, c := range b.byStream[s] {
		c.left = c.left || !c.over
	}
}

func (b *book) decide(rec *events.Record, d *events.Decision) {
	for place, asked := range d.Commands() {
		t := asked.Traits()
		if t.Reads || t.Target == events.TargetCommand {
			continue // a command that only reads, or is about another command, makes no write
		}
		if asks[t.Kind] == nil {
			b.problems = append(b.problems, fmt.Sprintf("record %d: what a %s writes is not known here", rec.Sequence, t.Name))
			continue
		}
		deed := asks[t.Kind](b.life, types.UID(rec.Stream.ID), asked)
		deed.Kind = t.Kind
		c := &command{
			Deed: deed, name: events.CommandID{Decided: rec.Sequence, Place: uint32(place)}, retried: t.Retried,
			stream: rec.Stream,
		}
		b.commands = append(b.commands, c)
		b.byName[c.name], b.byStream[rec.Stream] = c, append(b.byStream[rec.Stream], c)
	}
}

// end takes a recorded outcome of a command. It ignores outcomes of commands that only read.
func (b *book) end(rec *events.Record, f *events.CommandEnded) {
	c := b.byName[f.Command]
	if c == nil {
		if t := f.Type.Traits(); t == nil || !t.Reads {
			b.problems = append(b.problems, fmt.Sprintf(
				"record %d is the outcome of a %s, but no record before it decides command %d/%d", rec.Sequence, f.Type, f.Command.Decided, f.Command.Place))
		}
		return
	}
	if f.Type != c.Kind {
		c.problems = append(c.problems, fmt.Sprintf("record %d says that it was a %s", rec.Sequence, f.Type))
	}
	if c.over {
		c.problems = append(c.problems, fmt.Sprintf("record %d is another outcome after its last one", rec.Sequence))
	}
	o := outcome{*f, rec.Evidence.Reason}
	c.outcomes = append(c.outcomes, o)
	if rec.Evidence.Name != "" {
		c.object = [2]string{b.namespace(rec), rec.Evidence.Name}
	}
	if f.UID != "" && rec.Evidence.Name != "" {
		b.names[string(f.UID)] = c.object
	}
	c.over = !c.retried || f.Ending == events.Done || f.Ending == events.Withdrawn || f.Ending == events.Refused && !f.Class.Passing()
	shared := backoff{c.stream, c.Kind.Traits().Backoff}
	if shared.of != events.BackoffOwn {
		b.answers[shared] = append(b.answers[shared], o)
	}
}

// done is called after the last record of the log. It completes what is known of each command.
func (b *book) done() {
	for _, c := range b.commands {
		if c.left {
			c.cuts++
		}
		c.answersOfOthers = b.answers[backoff{c.stream, c.Kind.Traits().Backoff}]
		if c.object[1] == "" {
			c.object = b.names[c.Object]
		}
	}
}
