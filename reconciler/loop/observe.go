package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// compare handles our decision d about a Job that another controller runs, which is not carried out. It records where
// that controller acted differently, or did not act in time.
func (l *Loop) compare(b *batch, subject projector.Subject, d *reconciler.Decision) {
	s := subject.ID()
	delete(l.resuming, s)
	j := projector.HolderOf(subject)
	if j == nil {
		l.wakes.Set(s, 0)
		return
	}
	if !l.settings.Judges(j.ManagedBy) { // only the history of this Job is recorded, without a comparison
		l.wakes.Set(s, 0)
		if !d.Commands() {
			l.retire(b, subject)
		}
		return
	}
	would, again := l.watcher.Look(j, d, b.time)
	if d.Wake != 0 && (again == 0 || d.Wake < again) {
		again = d.Wake
	}
	l.wakes.Set(s, again)
	if would != nil {
		l.put(b, projector.Draft{Stream: s, Kind: events.KindWouldDecide, Facts: would, Causes: []events.Sequence{j.Head}})
	}
	if !d.Commands() && !l.watcher.Puzzled(s) {
		l.retire(b, subject)
	}
	if l.world.Subject(s) == nil || l.world.Retired(s) != nil {
		l.watcher.Forget(s)
	}
}
