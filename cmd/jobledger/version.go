package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// version is set by the linker (-X main.version=v1.2.3) in releases; else that of the module says.
var version string

// build says what this program is.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Rules    uint32 `json:"rulesVersion"`
	Format   uint32 `json:"logFormat"`
	Fold     uint32 `json:"foldVersion"`
}

func thisBuild() build {
	b := build{
		Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Rules: reconciler.RulesVersion, Format: events.Format, Fold: projector.FoldVersion,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	return b
}

// thisIs completes an error that says that a log needs a newer program: which one this is.
func thisIs(err error) error {
	var newer *events.NewerError
	if errors.As(err, &newer) && newer.Has.Program == "" {
		newer.Has = thisReader()
	}
	return err
}

// thisReader is what this program can read.
func thisReader() events.ReaderVersion { return loop.Reader(thisBuild().Version) }

// String is the line for people.
func (b build) String() string {
	return fmt.Sprintf("jobledger %s (%s, %s, rules %d, log format %d, fold %d)", b.Version, b.Go, b.Platform, b.Rules, b.Format, b.Fold)
}

func newVersion(c *cli.CLI) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			switch output {
			case "":
				fmt.Fprintln(c.Out, b)
				return nil
			case cli.FormatJSON, cli.FormatYAML:
				text, err := json.MarshalIndent(b, "", "  ")
				if err != nil {
					return err
				}
				return c.Document(output, text)
			}
			return cli.Usage("-o %s: must be json or yaml", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml instead of a line")
	cli.CompleteWith(cmd, "output", cli.FormatJSON, cli.FormatYAML)
	return cmd
}
