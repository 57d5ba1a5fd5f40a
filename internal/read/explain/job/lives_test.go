package job

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhichLifeAnswers: of the Jobs of a name the newest that goes on, else the newest that failed, else the newest.
func TestWhichLifeAnswers(t *testing.T) {
	named := map[rune]history.State{
		'w': history.StateWaiting, 'r': history.StateRunning, 's': history.StateSuspended, 'f': history.StateFailing,
		'i': history.StateFinishing, 'd': history.StateDeleting,
		'F': history.StateFailed, 'C': history.StateComplete, 'D': history.StateDeleted, 'E': history.StateFinished,
		'U': history.StateUnseen, 'M': history.StateUnmanaged,
	}
	for text, want := range map[string]int{
		"C": 0, "CF": 1, "CFF": 1, "FC": 0, "CFw": 2, "Cr": 1, "Fs": 1, "Ff": 1, "Fi": 1, "Fd": 1, "DC": 0, "EF": 1, "UM": 0,
		"Fww": 1, "MF": 1, "DF": 1,
	} {
		var all []*Case
		for _, r := range text {
			c := &Case{Case: &jobcase.Case{}}
			c.Job.State = named[r]
			all = append(all, c)
		}
		if got := OfLives(all, 0); got != all[want] {
			t.Errorf("%s: number %d answers", text, slices.Index(all, got))
		}
		if lives := all[want].Lives; len(lives) != 0 && len(text) == 1 || len(text) > 1 && (len(lives) != len(text) ||
			!lives[len(text)-1-want].This) {
			t.Errorf("%s: %+v", text, lives)
		}
		if OfLives(all, 2); all[want].Lives[0].Older != 2 {
			t.Errorf("%s: %+v", text, all[want].Lives)
		}
	}
	finished := &Case{Case: &jobcase.Case{Settled: &jobcase.Settling{Over: whentest.Seen(9, 9)}}}
	finished.Job.State, finished.Job.Created = history.StateFailed, whentest.Recorded(1)
	pruned := &Case{Case: &jobcase.Case{}}
	pruned.Job.State, pruned.Job.Finished, pruned.Job.Created = history.StateFinished, whentest.Recorded(8),
		whentest.Recorded(1)
	gone := &Case{Case: &jobcase.Case{Gone: whentest.Seen(7, 7)}}
	gone.Job.State, gone.Job.Created = history.StateDeleted, whentest.Recorded(1)
	goesOn := &Case{Case: &jobcase.Case{}}
	goesOn.Job.State, goesOn.Job.Created = history.StateRunning, whentest.Recorded(1)
	for c, want := range map[*Case]float64{finished: 9, pruned: 8, gone: 7, goesOn: 1} {
		if got := c.life(); got.At != whentest.Recorded(want) || got.State != string(c.Job.State) {
			t.Errorf("%+v, want %v", got, whentest.Recorded(want))
		}
	}
}
