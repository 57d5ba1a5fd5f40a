package explain

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// putFirst moves the first existing section of heads to the front, next to the verdict.
func (a *Answer) putFirst(heads ...string) {
	for _, head := range heads {
		i := slices.IndexFunc(a.Sections, func(s Section) bool { return s.Head == head && !s.Sentences[0].Detail })
		if i < 0 {
			continue
		}
		s := a.Sections[i]
		a.Sections = slices.Insert(slices.Delete(a.Sections, i, i+1), 0, s)
		a.Lead = head
		return
	}
}

// leads returns the sections that may have the cause of the verdict, the most likely first; none if the verdict has it.
func (c *JobCase) leads() []string {
	switch c.Job.State {
	case history.StateFailed, history.StateFailing:
		if held, _ := c.meanwhile(); held.cut != "" {
			return nil
		}
		if failed := c.failedTries(); len(failed) > 1 && c.ending(failed[0]).By.own() && !c.ending(failed[len(failed)-1]).By.own() {
			return []string{headPods, headFirst} // the verdict has exit codes, but not what ended the last pod
		}
		return []string{headFirst, headWaited, headRefused, headPods}
	case history.StateComplete, history.StateFinishing, history.StateFinished:
		return []string{headFirst, headWaited, headRefused, headEdits}
	case history.StateDeleted, history.StateDeleting:
		return []string{headFirst, headWaited, headRefused, headWaits}
	case history.StateSuspended, history.StateUnmanaged, history.StateUnseen:
		return nil
	case history.StateWaiting, history.StateRunning:
	}
	switch {
	case c.refusedNow(events.CommandCreatePod) != nil:
		return []string{headRefused}
	case slices.ContainsFunc(c.Tries, func(t *Try) bool { return !t.over() && t.Crashed != nil }):
		return []string{headFirst}
	case c.runningNow() == 0:
		return []string{headWaits, headFirst}
	}
	return nil
}
