package console

import "strings"

// Exchange is a command of a session, and what the page shows of its output. A line of output "…" stands for lines that
// were left out, and "…" in a line of JSON for a part of it that was.
type Exchange struct {
	Command string
	Output  []string
}

// Exchanges are those of all console blocks of a page. Lines that begin with "$ " are commands, which a "\" at the end
// carries on to the next line; what follows is what came of them.
func Exchanges(markdown string) []Exchange {
	var out []Exchange
	inside := false
	for line := range strings.Lines(strings.ReplaceAll(markdown, "\\\n", "")) {
		line = strings.TrimRight(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && isCommand:
			out = append(out, Exchange{Command: command})
		case inside && len(out) > 0:
			x := &out[len(out)-1]
			x.Output = append(x.Output, line)
		}
	}
	return out
}
