package show

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Overlaps returns a table of the Jobs that started while another of the given Jobs was running; of has the Job of each
// row. Of a Job that was deleted while it ran, the end is not known, so the column of running Jobs does not name it.
func (p *Page) Overlaps(jobs []history.Summary) (head []string, rows [][]string, of []*history.Summary) {
	head = []string{"Job", "started", "took", "while these ran"}
	for i := range jobs {
		j := &jobs[i]
		if j.Started == 0 {
			continue
		}
		var beside []string
		for k := range jobs {
			if other := &jobs[k]; k != i && ranAt(other, events.Time(j.Started)) && !(other.Started == j.Started && k < i) {
				beside = append(beside, words.Clean(other.Name))
			}
		}
		if len(beside) == 0 {
			continue
		}
		slices.Sort(beside)
		rows = append(rows, []string{
			words.Clean(j.Name), p.Zone.Second(events.Time(j.Started)), dash(took(j.Started, j.Finished)), strings.Join(beside, ", "),
		})
		of = append(of, j)
	}
	return head, rows, of
}

// ranAt reports whether a Job is known to have run at an instant.
func ranAt(j *history.Summary, at events.Time) bool {
	if j.Started == 0 || events.Time(j.Started) > at {
		return false
	}
	if j.Finished == 0 {
		return !j.Gone
	}
	return events.Time(j.Finished) > at
}
