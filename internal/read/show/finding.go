package show

import (
	"fmt"

	"github.com/jobledger/jobledger/internal/say/words"
)

// Widths of the first two columns of a finding: how serious it is, and the check that found it.
const (
	levelWidth = 9
	checkWidth = 12
)

// Finding writes one result of a check of the cluster: how serious it is (level), the name of the check, the text, and
// below it what to do (do).
func (p *Page) Finding(level string, style Style, check, text, do string) {
	before := fmt.Sprintf("%-*s%-*s", levelWidth, level, checkWidth, check)
	if p.Colour && style != Plain {
		before = codes[style] + fmt.Sprintf("%-*s", levelWidth, level) + "\x1b[0m" + fmt.Sprintf("%-*s", checkWidth, check)
	}
	write := func(text string) {
		for _, line := range wrap(words.Clean(text), p.Width-levelWidth-checkWidth, p.Whole) {
			fmt.Fprintln(p.Out, before+line)
			before = fmt.Sprintf("%*s", levelWidth+checkWidth, "")
		}
	}
	write(text)
	if do != "" {
		write("do: " + do)
	}
}
