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
set up.

Without --log and --server, the reader of the kubeconfig's cluster is asked, with the user's own rights.
Who may read one namespace names it with -n, or the model in each call.`,
		Example: `  jobledger mcp --log DIR
  jobledger mcp -n prod --context prod-eu
  jobledger mcp --server http://127.0.0.1:10271`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			open, done, err := forAgent(cmd.Context(), c, f)
			if err != nil {
				return err // at the start, and not only when a client asks
			}
			defer done()
			server := agent.New(agent.Config{Version: cli.ThisBuild().Version, Namespace: f.Namespace, Open: open})
			err = server.Run(cmd.Context(), agent.Patient(&mcp.StdioTransport{}))
			if errors.Is(err, io.EOF) { // the client has closed its end, which is no failure
				err = nil
			}
			return watch.UnlessInterrupted(cmd.Context(), err)
		},
	}
	f.AddSource(cmd)
	f.AddCluster(cmd)
	cmd.Flags().StringVarP(&f.Namespace, "namespace", "n", "", "namespace of calls that name none")
	return cmd
}

// opensLog opens the log for one call of a tool by an agent. note gets the lines that a command would print on standard
// error.
type opensLog = func(ctx context.Context, namespace string, note func(string)) (ask.Source, func(), error)

// forAgent returns the function that opens the log for each call of a tool. This is the log that the flags name, or the
// log behind the cluster's reader ('jobledger serve'). It returns an error if it cannot be opened now.
func forAgent(ctx context.Context, c *cli.CLI, f cli.JobFlags) (open opensLog, done func(), err error) {
	reader, err := f.Source.Reader(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	own := func(note func(string)) (*cli.CLI, serve.Hears) {
		return &cli.CLI{Out: io.Discard, Err: noted(note), Getenv: c.Getenv, Met: &store.Damage{}},
			serve.Hears{Note: note, Behind: func(string) {}, Read: func(uint64) {}}
	}
	if reader != nil {
		return func(_ context.Context, namespace string, note func(string)) (ask.Source, func(), error) {
			own, hears := own(note)
			return own.From(own.At(reader, namespace), hears), func() {}, nil
		}, reader.Close, nil
	}
	open = func(ctx context.Context, _ string, note func(string)) (ask.Source, func(), error) {
		own, hears := own(note)
		src, _, err := f.Source.OpenToFold(ctx, own)
		if err != nil {
			return ask.Source{}, nil, err
		}
		return own.AskHere(src, hears), src.Close, nil
	}
	_, closed, err := open(ctx, "", func(string) {})
	if err != nil {
		return nil, nil, err
	}
	closed()
	return open, func() {}, nil
}

// noted is an io.Writer that passes each line to a function, as a note for the user.
type noted func(string)

func (n noted) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		n(strings.TrimPrefix(strings.TrimSpace(line), "note: "))
	}
	return len(b), nil
}
