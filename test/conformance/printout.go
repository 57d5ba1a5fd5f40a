package conformance

import (
	"regexp"
	"slices"
	"strings"
)

// printout is a kubectl command that a spec ran, and its output without the parts that differ from run to run.
type printout struct{ Command, Text string }

// named lists patterns of lines that only one controller is expected to print, each with the reason.
var named = []struct{ line, why string }{
	{`^ *annotations:$`, "of a pod, which the built-in controller gives none"},
	{`^ *jobledger\.dev/(command|command-seal|template|term): `, "annotations by which a pod is known again as the one that a record asked for"},
}

// differences returns the lines that only one of the controllers printed for a command. Lines that match named are left
// out.
func differences(ours, builtin []printout) []string {
	var found []string
	for i, o := range ours {
		if i >= len(builtin) || builtin[i].Command != o.Command {
			found = append(found, "only ours ran: "+o.Command)
			continue
		}
		mine, theirs := strings.Split(o.Text, "\n"), strings.Split(builtin[i].Text, "\n")
		for _, side := range []struct {
			who      string
			has, not []string
		}{{"ours", mine, theirs}, {"built-in", theirs, mine}} {
			for _, line := range without(side.has, side.not) {
				if !isNamed(line) {
					found = append(found, "$ "+o.Command+"\n"+side.who+": "+line)
				}
			}
		}
	}
	return found
}

// without returns the lines of has that are not in `not`. If a line is in both, but n times more often in has, it is
// returned n times.
func without(has, not []string) []string {
	rest := slices.Clone(not)
	return slices.DeleteFunc(slices.Clone(has), func(line string) bool {
		i := slices.Index(rest, line)
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		return i >= 0
	})
}

func isNamed(line string) bool {
	for _, n := range named {
		if regexp.MustCompile(n.line).MatchString(line) {
			return true
		}
	}
	return false
}
