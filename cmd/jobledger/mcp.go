package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/agent"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/store"
)

func newMCP(c *cli.CLI) *cobra.Command {
	var f cli.JobFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give a log's answers to a language model as tools (MCP over stdio)",
		Long: `Give a log's answers to a language model, over the Model Context Protocol on standard input and output.
A client starts this command; it ends when its input does.

There are seven tools, and none writes: failures, find, explain, attempts, why_not, ticks and records.
They ask the questions of the commands of these names. An answer is Markdown of at most 6 KiB, and the
JSON of -o json beside it. What was cut is said.

What pods, users or the API server wrote stands in marked quotes, and cannot end them. The
client is told that a quote is data, that records are to be cited, and that "unknown" is an answer.

Each call opens the log, so an answer is as of its newest record. docs/agents.md has how clients are
set up.`,
		Example: `  jobledger mcp --log DIR
  jobledger mcp --server http://127.0.0.1:10271`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, done, err := openForAgent(cmd.Context(), c, f, func(string) {})
			if err != nil {
				return err // before a client waits for the first answer
			}
			done()
			server := agent.New(agent.Config{
				Version: cli.ThisBuild().Version,
				Open: func(ctx context.Context, note func(string)) (ask.Source, func(), error) {
					return openForAgent(ctx, c, f, note)
				},
			})
			err = server.Run(cmd.Context(), agent.Patient(&mcp.StdioTransport{}))
			if errors.Is(err, io.EOF) { // the client is gone
				err = nil
			}
			return watch.UnlessInterrupted(cmd.Context(), err)
		},
	}
	f.AddSource(cmd)
	return cmd
}

// openForAgent opens the log for one call. Lines that a command would print on standard error become notes.
func openForAgent(ctx context.Context, c *cli.CLI, f cli.JobFlags, note func(string)) (ask.Source, func(), error) {
	own := &cli.CLI{Out: io.Discard, Err: noted(note), Getenv: c.Getenv, Met: &store.Damage{}}
	src, _, err := f.Source.OpenToFold(ctx, own)
	if err != nil {
		return ask.Source{}, nil, err
	}
	return own.AskHere(src, serve.Hears{Note: note, Behind: func(string) {}, Read: func(uint64) {}}), src.Close, nil
}

// noted turns each line written to it into a note.
type noted func(string)

func (n noted) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		n(strings.TrimPrefix(strings.TrimSpace(line), "note: "))
	}
	return len(b), nil
}
