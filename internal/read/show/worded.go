package show

import (
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/say/words"
)

// SpanSays returns in words what a time span in a timeline stands for: "being scheduled" for "scheduling".
func SpanSays(what string) string {
	for _, m := range marksOf {
		if m.what == what {
			return m.says
		}
	}
	return what
}

// TimelineLacks says what is missing in a timeline because it was never recorded, or because the log no longer has it.
func TimelineLacks(t *attempts.Timeline, zone words.Zone) []string {
	return (&Page{Zone: zone}).passedLines(t)
}

// Title returns the name of the object that an answer is about; for a Job or a CronJob with its namespace.
func Title(a *explain.Answer) string { return titleOf(a) }

// About returns facts about the object that an answer explains: its owner or schedule, when it began and ended to
// exist, and how complete its records are.
func About(a *explain.Answer, zone words.Zone) []string { return about(a, zone) }

// Tally is one of the numbers above a list of trouble, such as "FAILED 6 in 4 causes".
type Tally struct {
	Sort   string // kind of trouble, such as failures.SortStuck
	Label  string // the number's name, such as "FAILED"
	Number int
	Rest   string // text after the number, such as "in 4 causes"; may be empty
}

// FailuresHead sums up a list of trouble: its numbers, and what they leave out, such as times without a watch of the
// cluster.
func FailuresHead(f *failures.Failures, zone words.Zone) (numbers []Tally, rest []string) {
	return tallies(f), failuresRest(f, zone)
}

// CauseRow is one cause of trouble: how many Jobs have it, from when to when, the name of one of them, and the reason.
type CauseRow struct {
	Of          *failures.Trouble // the newest Job with this cause
	First, Last events.Time
	Jobs        int
	Name, Why   string
}

// CauseRows returns one row for each cause.
func CauseRows(f *failures.Failures) (rows []CauseRow) {
	for _, r := range (&Page{}).causeRows(f) {
		rows = append(rows, CauseRow{&f.Items[r.item], r.first, r.last, r.jobs, r.name, r.why})
	}
	return rows
}

// SortSays returns the word for a kind of trouble (failures.SortStuck and so on): "stuck", "failed".
func SortSays(sort string) string { return stateWords[sort] }

// AttemptCells returns the table of a Job's tries (a try: one pod, from creation to end): the column heads, and the
// texts of each row.
func AttemptCells(rows []attempts.Attempt, zone words.Zone) (head []string, cells [][]string) {
	p := Page{Zone: zone}
	day := firstStart(rows)
	head = []string{"try", "pod", "node", "started", "ran", "ended by", "exit", "counted", "next try"}
	for i := range rows {
		a := &rows[i]
		number := numbered(a)
		cells = append(cells, []string{
			number, dash(words.Clean(a.Pod)), dash(words.Clean(a.Node)), p.clockOrDash(events.Time(a.Started), day), ranText(a),
			words.Clean(endedText(a)), words.Clean(exitsText(a)), countedText(a), p.nextText(a, day),
		})
	}
	return head, cells
}

// AttemptFailed reports whether a try (one pod of a Job) counts as a failure.
func AttemptFailed(a *attempts.Attempt) bool { return troubled(a) == Trouble }

// numbered returns the number of a try (one pod of a Job), after its index if the Job has indexes: "3 · 2".
func numbered(a *attempts.Attempt) string {
	if a.Index != nil {
		return indexOf(a) + " · " + strconv.Itoa(a.Try)
	}
	return strconv.Itoa(a.Try)
}
