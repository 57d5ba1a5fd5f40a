package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// NoArgs is for commands that take flags alone. It says which flag may be meant by a word that has none.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s takes no %q", cmd.Name(), args[0])
	if like := flagMeant(cmd, args[0]); like != "" {
		text += "; do you mean " + like + "?"
	}
	return &UsageError{text}
}

// flagMeant is the flag that a word may stand for: its name without dashes, a Job, or else the directory of the log.
func flagMeant(cmd *cobra.Command, word string) string {
	if name := flagLike(cmd, word); name != "" && !strings.ContainsAny(word, "./") {
		return "--" + name
	}
	flags := cmd.Flags()
	switch {
	case strings.HasPrefix(word, "job/") && flags.Lookup("job") != nil:
		return "--job " + word
	case flags.Lookup("log") != nil && !flags.Changed("log"):
		return "--log " + word
	}
	return ""
}

// AtMost refuses a word behind the last that a command takes.
func AtMost(most int, args []string) error {
	if len(args) <= most {
		return nil
	}
	return Usage("%q is one word too many: one object at a time, as job/NAME", args[most])
}
