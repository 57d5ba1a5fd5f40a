package acting

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/internal/run/reader"
)

// serveFlags are those of serve.
type serveFlags struct {
	job       cli.JobFlags // where the log is
	cluster   RunFlags     // its kubeconfig and context
	listen    string
	certFile  string // empty for a certificate that is made at start
	keyFile   string
	hosts     []string
	logFormat string
}

const defaultServe = "127.0.0.1:10273"

func newServe(c *cli.CLI) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer many users over HTTPS, each what he may read",
		Long: `Answer many users over HTTPS: the questions of the commands below /v1/ (docs/commands.md has them), and
pages for browsers. It never writes to the log or to the cluster.

A request needs a bearer token of Kubernetes or a client certificate of the cluster, on loopback too.
Headers of proxies are never believed. The API server says whose token it is, and whether that user may
list Jobs in the namespace that is asked about. All namespaces, a namespace that is gone, and
records that are older than the namespace take that right in all namespaces. An answer that leaves
something out says so; a refusal names the right that is missing. A right that was taken away is still
had for 10 s.

Eight requests are answered at a time, and two for each user; others wait 2 s, then they get 503 and
Retry-After. An answer ends after 10 s or 4 MiB.

--log DIR reads a log, at most a second old, or asks the controller that has it open. --server
asks a controller; while that does not answer, each answer says since when, and which record is the
newest that is known.

--tls-cert-file and --tls-private-key-file are read again when they change. Without them a certificate
is made at start that no authority vouches for: the second line of the output has the SHA-256 of
its key, and curl checks it with --pinnedpubkey.

It needs these rights: create tokenreviews and subjectaccessreviews, get namespaces, and get the ConfigMap
extension-apiserver-authentication in kube-system.`,
		Example: `  jobledger serve --log DIR --kubeconfig ./kubeconfig
  jobledger serve --server http://127.0.0.1:10271 --listen :10273 \
    --tls-cert-file tls.crt --tls-private-key-file tls.key
  curl -k --pinnedpubkey sha256//… -H "Authorization: Bearer $(kubectl create token me)" \
    https://127.0.0.1:10273/v1/failures?namespace=prod`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveUsers(cmd.Context(), c, &f) },
	}
	f.job.AddSource(cmd)
	f.add(cmd.Flags())
	return cmd
}

func (f *serveFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cluster.kubeconfig, "kubeconfig", "", "file that says how to reach the cluster")
	flags.StringVar(&f.cluster.context, "context", "", "context of the kubeconfig; its current one unless given")
	flags.StringVar(&f.listen, "listen", defaultServe, "address to answer on, such as :10273; port 0 for any")
	flags.StringVar(&f.certFile, "tls-cert-file", "", "certificate to answer with; one is made at start unless given")
	flags.StringVar(&f.keyFile, "tls-private-key-file", "", "key of that certificate")
	flags.StringSliceVar(&f.hosts, "tls-hosts", nil,
		"further names and addresses for the certificate that is made, such as that of a Service")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json; text on a terminal, else json")
}

// serveUsers answers until the context ends.
func serveUsers(ctx context.Context, c *cli.CLI, f *serveFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	dir, server, err := f.job.Source.Place(c.Getenv)
	if err != nil {
		return err
	}
	logger := newLogger(c.Err, f.logFormat, 0)
	config := reader.Config{Address: f.listen, Logger: logger}
	if server != "" {
		client, err := serve.NewClient(server)
		if err != nil {
			return cli.Usage("--server: %v", err)
		}
		config.Where = hostOf(server)
		config.Log = reader.NewController(client, config.Where, time.Now, logger)
	} else {
		beside := &logBeside{flags: f.job, getenv: c.Getenv}
		if err := beside.try(ctx); err != nil {
			return err
		}
		config.Where, config.Log = nameOf(dir), beside
	}
	cluster, err := connect(&f.cluster)
	if err != nil {
		return err
	}
	config.Client = cluster.Client
	config.CertFile, config.KeyFile, config.Hosts = f.certFile, f.keyFile, f.names()
	r, err := reader.New(config)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Out, r.URL())
	if pin := r.Pin(); pin != "" {
		fmt.Fprintln(c.Out, "the certificate was made now; its key is "+pin)
	}
	return watch.UnlessInterrupted(ctx, r.Run(ctx))
}

// validate refuses what does not go together.
func (f *serveFlags) validate() error {
	switch {
	case (f.certFile == "") != (f.keyFile == ""):
		return cli.Usage("--tls-cert-file and --tls-private-key-file go together: give both")
	case f.certFile != "" && len(f.hosts) > 0:
		return cli.Usage("--tls-hosts is for a certificate that is made: leave it out, or --tls-cert-file")
	case f.logFormat != "" && f.logFormat != logText && f.logFormat != logJSON:
		return cli.Usage("--log-format=%s: must be %s or %s", f.logFormat, logText, logJSON)
	}
	if err := checkAddress(f.listen); err != nil {
		return cli.Usage("--listen=%s: %v", f.listen, err)
	}
	return nil
}

// names are those of this machine, and those that are given, for a certificate that is made.
func (f *serveFlags) names() []string {
	hosts := append([]string{"localhost", "127.0.0.1", "::1"}, f.hosts...)
	host, _, _ := net.SplitHostPort(f.listen) // it was checked
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		hosts = append(hosts, host)
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// hostOf is how a controller is called on pages.
func hostOf(server string) string {
	if u, err := url.Parse(server); err == nil && u.Host != "" {
		return u.Host
	}
	return server
}

// nameOf is how a log is called on pages: by the last two parts of where it is, which say more than one.
func nameOf(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
	}
	return dir
}
