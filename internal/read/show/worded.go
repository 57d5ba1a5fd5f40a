package show

import (
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/words"
)

// SpanSays is what a timeline calls what time is spent on: "being scheduled" for "scheduling".
func SpanSays(what string) string {
	for _, m := range marksOf {
		if m.what == what {
			return m.says
		}
	}
	return what
}

// TimelineLacks says what may be missing in a timeline, because it was not recorded or is there no longer.
func TimelineLacks(t *explain.Timeline, zone words.Zone) []string {
	return (&Page{Zone: zone}).passedLines(t)
}

// Title is what an answer is about: a Job or a CronJob with its namespace, a pod by its name.
func Title(a *explain.Answer) string { return titleOf(a) }

// About says which object an answer is about, from when to when, and how whole its history is.
func About(a *explain.Answer, zone words.Zone) []string { return about(a, zone) }

// Tally is a number that a list of trouble begins with: "FAILED 6 in 4 causes".
type Tally struct {
	Sort   string // explain.SortStuck, for one
	Label  string // FAILED
	Number int
	Rest   string // "in 4 causes"; empty for nothing more
}

// FailuresHead sums up a list of trouble: its numbers, and what says how whole they are, such as gaps and how many
// were looked at.
func FailuresHead(f *explain.Failures, zone words.Zone) (numbers []Tally, rest []string) {
	return tallies(f), failuresRest(f, zone)
}

// CauseRow is one line of a list of trouble: how many fared alike, from when to when, whose work it is, and why.
type CauseRow struct {
	Of          *explain.Trouble // the newest of them
	First, Last events.Time
	Jobs        int
	Name, Why   string
}

// CauseRows are a line for each cause.
func CauseRows(f *explain.Failures) (rows []CauseRow) {
	for _, r := range (&Page{}).causeRows(f) {
		rows = append(rows, CauseRow{&f.Items[r.item], r.first, r.last, r.jobs, r.name, r.why})
	}
	return rows
}

// SortSays is what a sort of trouble is called: "stuck", "failed".
func SortSays(sort string) string { return stateWords[sort] }

// AttemptCells are the columns of a list of tries and one row for each, as texts.
func AttemptCells(rows []explain.Attempt, zone words.Zone) (head []string, cells [][]string) {
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

// AttemptFailed reports whether a try counts as a failure.
func AttemptFailed(a *explain.Attempt) bool { return troubled(a) == Trouble }

// numbered is the number of a try, with its index where it has one.
func numbered(a *explain.Attempt) string {
	if a.Index != nil {
		return indexOf(a) + " · " + strconv.Itoa(a.Try)
	}
	return strconv.Itoa(a.Try)
}
