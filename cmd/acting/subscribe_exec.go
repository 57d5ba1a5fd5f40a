package acting

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// handler runs a shell command for each event.
type handler struct {
	cli     *cli.CLI
	cluster string
	command string
	tries   int
}

// grace is how long a command may take to end after subscribe is stopped.
const grace = 10 * time.Second

func (h *handler) take(ctx context.Context, e *subscribe.Event) error {
	if e.Try == 1 {
		for _, line := range notes(e, false) {
			fmt.Fprintln(h.cli.Err, "jobledger: "+words.Clean(line))
		}
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.command) //nolint:gosec // the user asks for it
	cmd.Stdin = bytes.NewReader(append(eventJSON(h.cluster, e), '\n'))
	cmd.Stdout, cmd.Stderr = h.cli.Out, h.cli.Err
	cmd.Env = append(os.Environ(), h.environment(e)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	if err != nil && ctx.Err() == nil && e.Try != h.tries {
		fmt.Fprintf(h.cli.Err, "jobledger: event %s: %v; it is given to the command again\n", e.ID, err)
	}
	return err
}

// environment returns environment variables with the most important fields of an event. Zero bytes are removed, because
// the kernel would refuse them.
func (h *handler) environment(e *subscribe.Event) []string {
	var reasons []string
	for _, r := range e.Reasons {
		reasons = append(reasons, string(r))
	}
	return []string{
		"JOBLEDGER_ID=" + e.ID.String(),
		"JOBLEDGER_CLUSTER=" + h.cluster,
		"JOBLEDGER_SEQUENCE=" + strconv.FormatUint(uint64(e.ID.Sequence), 10),
		"JOBLEDGER_TIME=" + recordjson.Stamp(e.Time),
		"JOBLEDGER_KIND=" + words.Clean(e.Subject.Event),
		"JOBLEDGER_NAMESPACE=" + words.Clean(e.Subject.Namespace),
		"JOBLEDGER_JOB=" + words.Clean(e.Subject.Name),
		"JOBLEDGER_STREAM=" + words.Clean(e.Record.Stream.String()),
		"JOBLEDGER_UID=" + words.Clean(string(e.Job.UID)),
		"JOBLEDGER_REASONS=" + words.Clean(strings.Join(reasons, ",")),
		"JOBLEDGER_VERDICT=" + words.Clean(e.Verdict),
		"JOBLEDGER_TRY=" + strconv.Itoa(e.Try),
	}
}
