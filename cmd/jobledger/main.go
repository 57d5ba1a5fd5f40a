package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // time zones for --zone, because our image has only this program

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// The exit codes of the program.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() { os.Exit(run(os.Args)) }

// run runs the program with a command line, and returns the exit code. The first SIGINT or SIGTERM asks the command to
// stop cleanly; a second one ends the process at once.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // after the first signal, a second one ends the process at once

	return execute(ctx, &cli.CLI{
		Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, KubeNamespace: kubeNamespace, FindReader: findReader,
	}, asCompletion(args))
}

// asCompletion returns the command line to execute. For the completions of a plugin, kubectl calls a program of another
// name, perhaps a link to this one, with the words that the user typed; these become the arguments of our completion
// command.
func asCompletion(args []string) []string {
	if filepath.Base(args[0]) != "kubectl_complete-jobledger" {
		return args
	}
	return append([]string{"kubectl-jobledger", cobra.ShellCompRequestCmd}, args[1:]...)
}

// execute runs the command of a command line, prints its error, and returns the exit code.
func execute(ctx context.Context, c *cli.CLI, args []string) int {
	if cli.AsksForASCII(c.Getenv) {
		c.SpeakASCII()
	}
	c.ShowReading()
	c.Completes = slices.Contains(args, cobra.ShellCompRequestCmd) || slices.Contains(args, cobra.ShellCompNoDescRequestCmd)
	root := newRoot(c, displayName(args[0]))
	if c.Completes {
		cli.OfferValues(root)
	}
	root.SetArgs(args[1:])
	command, err := root.ExecuteContextC(ctx)
	err = cli.ThisIs(err)
	c.Met.Tell(err)
	untold := c.Met.Untold()
	defer func() {
		for _, damage := range untold {
			fmt.Fprintf(c.Err, "%s: %s\n", root.DisplayName(), words.Clean(damage.Error()))
		}
	}()
	var problem *cli.UsageError
	var wrong *which.WrongError
	if errors.As(err, &wrong) {
		for _, line := range wrong.Lines() {
			fmt.Fprintln(c.Err, line)
		}
	}
	switch {
	case err == nil && !c.Damaged && len(untold) == 0:
		return 0
	case err == nil: // only damage makes the command fail, and it was printed
	case errors.Is(err, cli.ErrTold):
	case errors.As(err, &problem) || wrong != nil || !c.Begun:
		fmt.Fprintf(c.Err, "%s: %s\nSee '%s --help'.\n", root.DisplayName(), words.Clean(err.Error()), command.CommandPath())
		return exitUsage
	default:
		for _, problem := range problems(err) {
			fmt.Fprintf(c.Err, "%s: %s\n", root.DisplayName(), words.Clean(problem))
		}
	}
	return exitFailure
}

// problems returns the texts of the errors that are joined in err. A text that another one contains is left out.
func problems(err error) (texts []string) {
	joined, several := err.(interface{ Unwrap() []error })
	if !several || !strings.Contains(err.Error(), "\n") { // one error, or several that fmt.Errorf joined on one line
		return []string{err.Error()}
	}
	for _, e := range joined.Unwrap() {
		for _, text := range problems(e) {
			if slices.ContainsFunc(texts, func(said string) bool { return strings.Contains(said, text) }) {
				continue
			}
			texts = append(slices.DeleteFunc(texts, func(said string) bool { return strings.Contains(text, said) }), text)
		}
	}
	return texts
}

// displayName returns the name by which the user calls the program; arg0 is its path. As a plugin of kubectl, which
// finds it by its file name, it has another name.
func displayName(arg0 string) string {
	if name := filepath.Base(arg0); strings.HasPrefix(name, "kubectl-") {
		return strings.ReplaceAll(name, "-", " ")
	}
	return "jobledger"
}
