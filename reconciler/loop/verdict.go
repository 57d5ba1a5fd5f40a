package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// retirement returns the record that retires a Job (nothing is left to do). It says how the Job ended, and why.
func retirement(j *projector.Job) projector.Draft {
	d := projector.Draft{
		Stream: j.Stream, Kind: events.KindJobRetired, Facts: j.Retirement(), Evidence: events.Evidence{Sentence: verdict.Of(j)},
	}
	if failed := j.Base.Condition(status.Failed); failed != nil {
		d.Evidence.Message = failed.Message
	}
	return d
}

// verdictOf returns the verdict (a sentence that says how and why the Job ends) for the record of a decision that ends
// a Job; "" for other decisions. The Kubernetes Event of the Job's end quotes it, and is sent before the Job retires.
func verdictOf(s projector.Subject, d *events.Decision) string {
	j, ok := s.(*projector.Job)
	if !ok {
		return ""
	}
	for i := range d.Steps {
		for _, c := range d.Steps[i].Commands {
			if w, writes := c.(*events.WriteStatus); writes && w.Change.Ends() {
				stored := j.Base.With(&w.Change)
				return verdict.On(j, &stored)
			}
		}
	}
	return ""
}
