package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/say/words"
)

// NoSuchFlag returns the usage error for an unknown flag. It names the flag that the user may have meant.
func NoSuchFlag(cmd *cobra.Command, none *pflag.NotExistError) error {
	name, dashes := none.GetSpecifiedName(), "--"
	typed := name
	if short := none.GetSpecifiedShortnames(); short != "" {
		typed, dashes = short, "-"
	}
	_, ofOneJob := cmd.Annotations[OfKubeconfig]
	text := "there is no flag " + dashes + name
	switch like := flagLike(cmd, typed); {
	case dashes == "-" && name == "A" && ofOneJob:
		return Usage("-A is for lists: say with -n where the Job is")
	case dashes == "-" && name == "A" && cmd.Flags().Lookup("namespace") != nil:
		return Usage("%s: %s is about all namespaces unless -n names one", text, cmd.Name())
	case dashes == "-" && len(typed) < 3: // too short to guess which flag is meant
	case like != "":
		return Usage("%s; do you mean --%s?", text, like)
	case (typed == FormatJSON || typed == FormatYAML) && cmd.Flags().Lookup("output") != nil:
		return Usage("%s; do you mean -o %s?", text, typed)
	}
	return &UsageError{text}
}

// flagLike returns the name of the command's flag that is most similar to name; empty if none is similar.
func flagLike(cmd *cobra.Command, name string) (best string) {
	nearest := min(2, len(name)/2) + 1
	visible(cmd, func(f *pflag.Flag) {
		d := words.Distance(f.Name, name)
		if strings.HasPrefix(f.Name, name) {
			d = min(d, 1)
		}
		if d < nearest {
			best, nearest = f.Name, d
		}
	})
	if best != "" {
		return best
	}
	words := strings.Split(name, "-")
	nearest = len(words) + 3
	visible(cmd, func(f *pflag.Flag) {
		theirs := strings.Split(f.Name, "-")
		if d := max(len(words)-len(theirs), len(theirs)-len(words)); d < nearest && (within(words, theirs) || within(theirs, words)) {
			best, nearest = f.Name, d
		}
	})
	return best
}

// visible calls visit for each flag that the help of a command shows.
func visible(cmd *cobra.Command, visit func(*pflag.Flag)) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			visit(f)
		}
	})
}

// within reports whether long contains all words of short, in the same order.
func within(short, long []string) bool {
	for _, word := range short {
		at := slices.Index(long, word)
		if at < 0 {
			return false
		}
		long = long[at+1:]
	}
	return true
}
