package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/examples/incidents"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
)

// uiFlags are the flags of ui, which shows a log in a browser.
type uiFlags struct {
	job    cli.JobFlags
	listen string
	sample string
}

func newUI(c *cli.CLI) *cobra.Command {
	var f uiFlags
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show a log as pages in a browser on this machine",
		Long: `Show a log as pages in a browser: what is stuck or failed, and of each Job, CronJob and record all that
the commands say. It answers on a loopback address until it is interrupted, and never writes.

The first line of the output is the address to open. It has a secret that is good once: the browser
gets a cookie for it, and no other user of this machine can read along.

Without --log, --server and --sample it shows the pages of the reader of the kubeconfig's cluster, with
the user's own rights: the browser needs neither an address in the cluster nor a login.

--sample shows recorded incidents that are part of this program: delegated (Jobs that Jobledger ran),
observed (the same under the built-in controller), cronjobs-run or cronjobs-observed.`,
		Example: `  jobledger ui --log DIR
  jobledger ui --context prod-eu
  jobledger ui --sample
  jobledger ui --sample=cronjobs-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags := cmd.Flags(); flags.Changed("sample") && (flags.Changed("log") || flags.Changed("server")) {
				return cli.Usage("--sample shows incidents of its own: leave --log and --server out")
			}
			return showUI(cmd.Context(), c, &f)
		},
	}
	f.job.AddSource(cmd)
	f.job.AddCluster(cmd)
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "loopback address to answer on; port 0 for one that is free")
	cmd.Flags().StringVar(&f.sample, "sample", "", "show recorded incidents: delegated, observed, cronjobs-run or cronjobs-observed")
	cmd.Flags().Lookup("sample").NoOptDefVal = "delegated"
	cli.CompleteWith(cmd, "sample", incidents.Names...)
	return cmd
}

// showUI serves pages to a browser until ctx ends.
func showUI(ctx context.Context, c *cli.CLI, f *uiFlags) error {
	if !serve.Loopback(f.listen) {
		return cli.Usage("--listen %s: must be a loopback address, such as 127.0.0.1:8080", f.listen)
	}
	where := f.job.Source.Log
	if f.sample != "" {
		dir, err := os.MkdirTemp("", "jobledger-sample-")
		if err != nil {
			return fmt.Errorf("make a directory for the sample: %w", err)
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a copy of the log in the directory for temporary files
		if err := incidents.Write(f.sample, dir); err != nil {
			return cli.Usage("--sample: %v", err)
		}
		f.job.Source.Log, where = dir, "sample: "+f.sample
	}
	reader, err := f.job.Source.Reader(ctx, c)
	if err != nil {
		return err
	}
	if reader != nil {
		defer reader.Close()
		return showPages(ctx, c, f.listen, page.Proxy(page.Remote{
			Base: reader.Base, Transport: reader.Transport, Name: reader.Name,
		}))
	}
	src, _, err := f.job.Source.OpenToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	return showPages(ctx, c, f.listen, page.New(page.Config{
		Where: shortened(cmp.Or(where, f.job.Source.Log)), Log: f.job.Source.Log,
		Source: func(_ *http.Request, _ page.About, d *store.Damage, note func(string)) (page.Given, error) {
			out := c.AskHere(src, serve.Hears{Note: note, Behind: func(string) {}, Read: func(uint64) {}})
			out.Damage = d
			return page.Given{Source: out}, nil
		},
	}))
}

// showPages serves pages to the browser of one user until ctx ends.
func showPages(ctx context.Context, c *cli.CLI, listen string, pages http.Handler) error {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listen, err)
	}
	guard, address := page.OneUser(pages, listener.Addr().String())
	fmt.Fprintln(c.Out, address)
	return serveUntil(ctx, listener, guard)
}

// shortened returns the name of a log that pages show: the last two parts of its path.
func shortened(where string) string {
	if filepath.IsAbs(where) {
		return filepath.Base(filepath.Dir(where)) + "/" + filepath.Base(where)
	}
	return where
}

// serveUntil answers HTTP requests on a listener with guard, until ctx ends.
func serveUntil(ctx context.Context, listener net.Listener, guard http.Handler) (err error) {
	server := &http.Server{Handler: guard, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }() // ends when server.Close is called
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	_ = server.Close() // no request changes anything, so none needs to end
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}
