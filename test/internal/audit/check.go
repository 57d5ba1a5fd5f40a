package audit

import (
	"fmt"
	"iter"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// Report is the result of comparing a controller's log with the API server's audit log.
type Report struct {
	Writes, Commands int // numbers of the writes and commands that were compared
	// number of Deeds (writes that commands ask for) that match only because the process or the Job ended before an
	// outcome was recorded
	Cut      int
	Problems []string
}

// Check compares the writes of a controller with the commands in its log; the problems it finds are in the Report. An
// error means that reading failed.
func Check(writes []Write, records iter.Seq2[events.Record, error]) (Report, error) {
	b := newBook()
	for rec, err := range records {
		if err != nil {
			return Report{}, fmt.Errorf("read the log: %w", err)
		}
		b.add(&rec)
	}
	b.done()
	report := Report{Writes: len(writes), Commands: len(b.commands), Problems: b.problems}
	commands, made := map[Deed][]*command{}, map[Deed][]*Write{}
	var order []Deed
	for _, c := range b.commands {
		if commands[c.Deed] == nil {
			order = append(order, c.Deed)
		}
		commands[c.Deed] = append(commands[c.Deed], c)
		for _, p := range c.problems {
			report.Problems = append(report.Problems, fmt.Sprintf("%s: %s", c, p))
		}
	}
	for i := range writes {
		w := &writes[i]
		if commands[w.Deed] == nil {
			report.Problems = append(report.Problems, "no command asks for this write: "+w.String())
			continue
		}
		made[w.Deed] = append(made[w.Deed], w)
	}
	for _, d := range order {
		report.compare(commands[d], made[d])
	}
	return report, nil
}

// compare checks the writes that have one Deed (kind, object, owner, version): they must be those that the commands
// with this Deed have made.
func (r *Report) compare(commands []*command, writes []*Write) {
	if fits(commands, writes, true) {
		return
	}
	if fits(commands, writes, false) {
		r.Cut++
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d commands and %d writes do not go together:", len(commands), len(writes))
	for _, c := range commands {
		fmt.Fprintf(&text, "\n  %s", c)
		if c.cuts > 0 {
			fmt.Fprintf(&text, "; cut off %d times", c.cuts)
		}
	}
	for _, w := range writes {
		fmt.Fprintf(&text, "\n  %s", w)
	}
	r.Problems = append(r.Problems, text.String())
}
