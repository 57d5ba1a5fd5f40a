package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// alike maps each command to words that people may type instead.
var alike = map[string][]string{
	"get":       {"list", "ls", "show", "describe", "status", "job", "jobs", "state"},
	"explain":   {"why", "describe", "reason", "cause", "postmortem", "diagnose"},
	"attempts":  {"tries", "retries", "pods"},
	"find":      {"search", "grep", "locate"},
	"failures":  {"failed", "errors", "stuck", "trouble"},
	"events":    {"log", "logs", "history", "records", "event", "audit"},
	"subscribe": {"stream", "tail", "follow", "listen", "watch"},
	"verify":    {"check", "fsck", "integrity"},
	"replay":    {"again", "rerun", "decide"},
	"run":       {"start", "controller", "server"},
	"serve":     {"web", "https", "readers"},
	"release":   {"uninstall", "leave"},
}

// knownCommand returns a usage error for an unknown subcommand. It names the one that the user may have meant, or lists
// all.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if other := elsewhere(args[0]); other != "" {
		return cli.Usage("%s", other)
	}
	text := fmt.Sprintf("there is no command %q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return cli.Usage("%s", text+"; do you mean "+strings.Join(like, " or ")+"?")
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if len(names) > 0 {
		text += "; there are " + strings.Join(names, ", ")
	}
	return cli.Usage("%s", text)
}

// plainFlagError returns a usage error that explains an error about a flag. It names the flag that the user may have
// meant.
func plainFlagError(cmd *cobra.Command, err error) error {
	var none *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	if before := cmd.Flags().Args(); !cmd.HasParent() && len(before) > 0 {
		return knownCommand(cmd, before) // if a command is unknown, that is the actual mistake
	}
	switch {
	case errors.As(err, &none):
		return cli.NoSuchFlag(cmd, none)
	case errors.As(err, &empty):
		return cli.Usage("--%s wants a value", empty.GetFlag().Name)
	case errors.As(err, &wrong):
		if kind := kindOf(wrong.GetFlag().Value.Type()); kind != "" {
			return cli.Usage("--%s=%s: must be %s", wrong.GetFlag().Name, wrong.GetValue(), kind)
		}
		return cli.Usage("--%s=%s: %v", wrong.GetFlag().Name, wrong.GetValue(), wrong.Unwrap())
	}
	return cli.Usage("%s", err.Error())
}

// kindOf returns words for what values a flag takes, by the name of its type. It is empty for types of our own, because
// their errors say enough.
func kindOf(flag string) string {
	switch flag {
	case "duration":
		return "a duration, such as 90s or 2h"
	case "bool":
		return "true or false"
	case "int", "int32", "int64":
		return "a whole number"
	case "uint", "uint16", "uint32", "uint64":
		return "a whole number, 0 or more"
	case "float64":
		return "a number"
	}
	return ""
}
