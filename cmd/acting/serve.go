package acting

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/finding"
	"github.com/jobledger/jobledger/internal/run/mirror"
	"github.com/jobledger/jobledger/internal/run/reader"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// serveFlags are the flags of serve, the process from which many users read one log.
type serveFlags struct {
	job       cli.JobFlags // which log to read
	mirror    mirrorFlags  // controllers from which to copy the log, in place of job
	cluster   RunFlags     // only kubeconfig and context are used
	listen    string
	certFile  string // empty: a certificate is generated at the start
	keyFile   string
	hosts     []string
	base      string
	publish   string // NAMESPACE/NAME of the ConfigMap in which the address is published; empty for none
	pod       string
	logFormat string
}

// mirrorFlags are the flags of serve for reading from a copy of the log: from which controllers to copy, and where to.
type mirrorFlags struct {
	controllers []string // their URLs; empty to read a log where it is
	authorities string   // file with CA certificates; empty for those of the system
	token       string   // file with a bearer token
	dir         string
}

const (
	controllersFlag = "controllers"
	mirrorFlag      = "mirror"
	tokenFlag       = "controllers-token-file"
	authoritiesFlag = "controllers-ca-file"
	// where each pod has its token
	accountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // the path of a token, not a token
)

const defaultServe = "127.0.0.1:10273"

const serveHelp = `Answer many users over HTTPS: the questions of the commands below /v1/ (docs/commands.md has them), and
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

--controllers URL keeps a copy of the log in the directory --mirror, and answers from it, at most some
seconds old. The controllers run with --readers, which is alpha. Each second they are asked how far they
are. The one that holds the Lease is read from, else the one with the newest record; then each answer
says which. While none answers, each answer is as of when one did last, and says since when. A copy that
the log does not go on from is thrown away and begun again. It takes as much space as the log.

--tls-cert-file and --tls-private-key-file are read again when they change. Without them a CA and a
certificate of it are made at start, whose keys are only in memory: the second line of the output has the
SHA-256 of the certificate's key, and curl checks it with --pinnedpubkey.

--publish NAMESPACE/NAME writes into a ConfigMap, which must exist, how this reader is reached: its pod and
port, and the CA of its certificate. There the commands find it (jobledger explain --help). Of
a certificate from a file, the last one in it counts as the CA.

--base-path PATH answers only below a path, for a proxy that passes it on: /ledger has the pages below
/ledger/ and the questions below /ledger/v1/.

It needs these rights: create tokenreviews and subjectaccessreviews, get namespaces, and get the ConfigMap
extension-apiserver-authentication in kube-system. With --controllers, it also needs to get the
non-resource URL /v1/; with --publish, to get and patch that ConfigMap.`

func newServe(c *cli.CLI) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer many users over HTTPS, each what he may read",
		Long:  serveHelp,
		Example: `  jobledger serve --log DIR --kubeconfig ./kubeconfig
  jobledger serve --server http://127.0.0.1:10271 --listen :10273 \
    --tls-cert-file tls.crt --tls-private-key-file tls.key
  jobledger serve --controllers https://jobledger.jobledger:10272 --controllers-ca-file ca.crt \
    --mirror /var/lib/jobledger-reader --listen :10273
  curl -k --pinnedpubkey sha256//… -H "Authorization: Bearer $(kubectl create token me)" \
    https://127.0.0.1:10273/v1/failures?namespace=prod`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveUsers(cmd.Context(), c, &f) },
	}
	f.job.AddSource(cmd)
	f.mirror.add(cmd.Flags())
	f.add(cmd.Flags())
	return cmd
}

func (f *mirrorFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.controllers, controllersFlag, nil,
		"URLs of controllers that run with --readers, such as https://jobledger.jobledger:10272; each address is one")
	flags.StringVar(&f.dir, mirrorFlag, "", "with --controllers, the directory in which the copy of the log is kept")
	flags.StringVar(&f.authorities, authoritiesFlag, "",
		"who signed the certificates of the controllers; those that the system trusts unless given")
	flags.StringVar(&f.token, tokenFlag, accountToken, "file with the token that the controllers are shown")
}

func (f *serveFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cluster.kubeconfig, "kubeconfig", "", "file that says how to reach the cluster")
	flags.StringVar(&f.cluster.context, "context", "", "context of the kubeconfig; its current one unless given")
	flags.StringVar(&f.listen, "listen", defaultServe, "address to answer on, such as :10273; port 0 for any")
	flags.StringVar(&f.certFile, "tls-cert-file", "", "certificate to answer with; one is made at start unless given")
	flags.StringVar(&f.keyFile, "tls-private-key-file", "", "key of that certificate")
	flags.StringSliceVar(&f.hosts, "tls-hosts", nil,
		"further names and addresses for the certificate that is made, such as that of a Service")
	flags.StringVar(&f.base, "base-path", "", "answer below this path, such as /ledger; all paths unless given")
	flags.StringVar(&f.publish, "publish", "", "NAMESPACE/NAME of a ConfigMap in which commands find this reader, such as "+
		finding.Namespace+"/"+finding.Name)
	flags.StringVar(&f.pod, "publish-pod", "", "with --publish, the pod in which this process runs; the name of the machine unless given")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json; text on a terminal, else json")
}

var (
	configMap = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9.-]+$`)
	basePath  = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)
)

// serveUsers answers users until ctx ends.
func serveUsers(ctx context.Context, c *cli.CLI, f *serveFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	logger := newLogger(c.Err, f.logFormat, 0)
	config := reader.Config{Address: f.listen, Logger: logger}
	if err := f.source(ctx, c, &config); err != nil {
		return err
	}
	cluster, err := connect(&f.cluster)
	if err != nil {
		return err
	}
	config.Client = cluster.Client
	config.CertFile, config.KeyFile, config.Hosts, config.Base = f.certFile, f.keyFile, f.names(), f.base
	if namespace, name, is := strings.Cut(f.publish, "/"); is {
		host, _ := os.Hostname() // after an error, the pod's name is empty, and no command finds the reader
		config.Publish = &reader.Publish{Namespace: namespace, Name: name, Pod: cmp.Or(f.pod, host)}
	}
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

// validate returns a usage error for flags that contradict each other.
func (f *serveFlags) validate() error {
	unset := func(string) string { return "" }
	if err := f.mirror.validate(f.job.Source.Given(unset)); err != nil {
		return err
	}
	f.base = strings.TrimSuffix(f.base, "/")
	switch {
	case f.publish == "" && f.pod != "":
		return cli.Usage("--publish-pod goes with --publish")
	case f.publish != "" && !configMap.MatchString(f.publish):
		return cli.Usage("--publish=%s: must be NAMESPACE/NAME of a ConfigMap", f.publish)
	case f.base != "" && !basePath.MatchString(f.base):
		return cli.Usage("--base-path=%s: must be a path such as /ledger, of letters, digits and .-_~", f.base)
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

// validate returns a usage error for flags that contradict each other. source is true if another flag names a log.
func (f *mirrorFlags) validate(source bool) error {
	switch {
	case len(f.controllers) == 0 && (f.dir != "" || f.authorities != ""):
		return cli.Usage("--%s and --%s go with --%s", mirrorFlag, authoritiesFlag, controllersFlag)
	case len(f.controllers) > 0 && source:
		return cli.Usage("--%s copies a log, and --log and --server read one where it is: give one of them", controllersFlag)
	case len(f.controllers) > 0 && f.dir == "":
		return cli.Usage("--%s copies the log: say where to, with --%s DIR", controllersFlag, mirrorFlag)
	}
	return nil
}

// source sets which log is read: a copy of a controller's log, the log of a running controller, or the log in a
// directory.
func (f *serveFlags) source(ctx context.Context, c *cli.CLI, config *reader.Config) error {
	if len(f.mirror.controllers) > 0 {
		m, err := f.mirror.open(config.Logger)
		config.Where, config.Log = hostOf(f.mirror.controllers[0]), m
		return err
	}
	dir, server, err := f.job.Source.Place(c.Getenv)
	if err != nil {
		return err
	}
	if server != "" {
		client, err := serve.NewClient(server)
		if err != nil {
			return cli.Usage("--server: %v", err)
		}
		config.Where = hostOf(server)
		config.Log = reader.NewController(client, config.Where, time.Now, config.Logger)
		return nil
	}
	beside := &logBeside{flags: f.job, getenv: c.Getenv}
	config.Where, config.Log = nameOf(dir), beside
	return beside.try(ctx)
}

// open opens the copy of the log, and makes clients for the controllers. It sends no request yet.
func (f *mirrorFlags) open(logger *slog.Logger) (*mirror.Mirror, error) {
	authorities, err := readAuthorities(authoritiesFlag, f.authorities)
	if err != nil {
		return nil, err
	}
	config := mirror.Config{
		Dir: f.dir, Where: strings.Join(f.controllers, ", "), Clock: time.Now, Logger: logger,
		Log: store.Options{
			Reader: events.ReaderVersion{Format: events.Format, Fold: projector.FoldVersion},
			Least:  events.ReaderVersion{Format: events.LeastFormat, Fold: projector.LeastFold},
		},
	}
	for _, address := range f.controllers {
		client, err := feed.NewClient(address, authorities, f.readToken)
		if err != nil {
			return nil, cli.Usage("--%s: %v", controllersFlag, err)
		}
		config.Clients = append(config.Clients, client)
	}
	m, err := mirror.New(config)
	if err != nil {
		return nil, fmt.Errorf("open the copy of the log in %s: %w", f.dir, err)
	}
	return m, nil
}

// readToken reads the file with the bearer token. It is called for each request, because the token of a ServiceAccount
// changes.
func (f *mirrorFlags) readToken() (string, error) { return readToken(f.token) }

// names returns the host names for a generated certificate: those of this machine, and those of --tls-hosts.
func (f *serveFlags) names() []string {
	hosts := append([]string{"localhost", "127.0.0.1", "::1"}, f.hosts...)
	host, _, _ := net.SplitHostPort(f.listen) // validate has checked the address
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		hosts = append(hosts, host)
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// hostOf returns the name that web pages show for the controller at the URL server.
func hostOf(server string) string {
	if u, err := url.Parse(server); err == nil && u.Host != "" {
		return u.Host
	}
	return server
}

// nameOf returns the name that web pages show for a log: the last two parts of its path.
func nameOf(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
	}
	return dir
}
