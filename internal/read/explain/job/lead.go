package job

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// leads returns the heads (titles) of the sections that may have the cause of the verdict, the most likely first. It
// returns none if the verdict itself has the cause.
func (c *Case) leads() []string {
	switch c.Job.State {
	case history.StateFailed, history.StateFailing:
		if held, _ := stuck.Meanwhile(c.Case); held.Cut != "" {
			return nil
		}
		return []string{explain.HeadFirst, explain.HeadWaited, explain.HeadRefused, explain.HeadPods}
	case history.StateComplete, history.StateFinishing, history.StateFinished:
		return []string{explain.HeadFirst, explain.HeadWaited, explain.HeadRefused, explain.HeadEdits}
	case history.StateDeleted, history.StateDeleting:
		if held, _ := stuck.HeldAtDeletion(c.Case, c.Deletion()); held.Cut != "" {
			return nil
		}
		return []string{explain.HeadFirst, explain.HeadWaited, explain.HeadRefused, explain.HeadWaits}
	case history.StateSuspended, history.StateUnmanaged, history.StateUnseen:
		return nil
	case history.StateWaiting, history.StateRunning:
	}
	switch {
	case c.RefusedNow(events.CommandCreatePod) != nil:
		return []string{explain.HeadRefused}
	case slices.ContainsFunc(c.Tries, func(t *try.Try) bool { return !t.Over() && t.Crashed != nil }):
		return []string{explain.HeadFirst}
	case stuck.RunningNow(c.Case) == 0:
		return []string{explain.HeadWaits, explain.HeadFirst}
	}
	return nil
}
