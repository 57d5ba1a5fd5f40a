package console

import "strings"

// Exchange is a command in a documented shell session, with the output that the page shows. An output line "…" stands
// for lines that the page leaves out; "…" within a line of JSON stands for a part of the line.
type Exchange struct {
	Command string
	Output  []string
}

// Exchanges returns the exchanges in all console blocks of a page. A line that begins with "$ " is a command; with a
// "\" at its end the command continues on the next line. The lines after a command are its output.
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
