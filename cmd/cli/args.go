package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// NoArgs returns a usage error if there are arguments, for commands that take only flags. The error names the flag that
// the user may have meant by the first argument.
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

// flagMeant returns the flag that the user may have meant by an argument: a flag whose name was typed without dashes,
// --job for a Job, or else --log.
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

// AtMost returns a usage error if there are more than most arguments.
func AtMost(most int, args []string) error {
	if len(args) <= most {
		return nil
	}
	return Usage("%q is one word too many: one object at a time, as job/NAME", args[most])
}
