package acting

import (
	"io"
	"log/slog"

	"github.com/jobledger/jobledger/cmd/cli"
	"k8s.io/klog/v2"
)

// The formats of run's log messages.
const (
	logText = "text"
	logJSON = "json"
)

// newLogger returns the logger of the command run. Client libraries of Kubernetes log through it, too.
func newLogger(out io.Writer, format string, verbosity int) *slog.Logger {
	if format == "" {
		format = logJSON
		if _, ok := cli.Terminal(out); ok {
			format = logText
		}
	}
	options := &slog.HandlerOptions{Level: slog.Level(-verbosity)} // klog's V(4) is -4, which is slog.LevelDebug
	var handler slog.Handler = slog.NewJSONHandler(out, options)
	if format == logText {
		handler = slog.NewTextHandler(out, options)
	}
	logger := slog.New(handler)
	klog.SetSlogLogger(logger)
	return logger
}
