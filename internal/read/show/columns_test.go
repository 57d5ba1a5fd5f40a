package show

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/history"
)

// TestTextsOfEveryScriptFit: what a container says may be in characters that take two columns, or none.
func TestTextsOfEveryScriptFit(t *testing.T) {
	for _, word := range []string{"磁盘空间不足", "ディスクがいっぱい", "디스크", "ﾊﾝｶｸ", "e\u0301te\u0301", "💥💥", "Überlauf"} {
		for _, text := range []string{strings.Repeat(word, 60), strings.Repeat(word+" ", 60)} {
			job := history.Job{State: history.StateFailed, Reason: "BackoffLimitExceeded", Message: text, Started: 1, Pods: []history.Pod{
				{Name: "a", Phase: "Failed", Node: "n", Containers: []history.ContainerEnd{{Name: "main", ExitCode: 1, Reason: text}}},
				{Name: "b", Phase: "Failed", Node: "n", Reason: word, Account: "counted"},
			}}
			out, _ := written(t, Page{Width: 100}, func(p *Page) error { return p.Job(&job) })
			for line := range strings.Lines(out) {
				if n := wide(strings.TrimSuffix(line, "\n")); n > 100 {
					t.Errorf("a line takes %d columns of 100:\n%s", n, line)
				}
			}
		}
	}
	table, _ := written(t, Page{Width: 100}, func(p *Page) error {
		rows := &Table{Out: p.Out, Width: p.Width, Head: []string{"A", "B"}}
		rows.Row(Cell{Text: "磁盘"}, Cell{Text: "|"})
		rows.Row(Cell{Text: "disk"}, Cell{Text: "|"})
		rows.Row(Cell{Text: "e\u0301te\u0301s!"[:9]}, Cell{Text: "|"})
		return rows.Flush()
	})
	at := -1
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		before, _, _ := strings.Cut(line, "|")
		if n := wide(before); at >= 0 && n != at {
			t.Errorf("the second column begins at %d and at %d:\n%s", at, n, table)
		} else {
			at = n
		}
	}
}

// wide is how many columns these texts take.
func wide(s string) (n int) {
	for _, r := range s {
		switch {
		case r == '\u0301':
		case r >= 0x1100 && r < 0xff00 || r > 0xffff:
			n += 2
			if r == '…' || r == '—' {
				n--
			}
		default:
			n++
		}
	}
	return n
}
