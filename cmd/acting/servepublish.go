package acting

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/run/finding"
	"github.com/jobledger/jobledger/internal/run/reader"
)

// publishFlags say in which ConfigMap serve publishes how it is reached.
type publishFlags struct {
	in  string // NAMESPACE/NAME; empty for none
	pod string
}

func (f *publishFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.in, "publish", "", "NAMESPACE/NAME of a ConfigMap in which commands find this reader, such as "+
		finding.Namespace+"/"+finding.Name)
	flags.StringVar(&f.pod, "publish-pod", "", "with --publish, the pod in which this process runs; the name of the machine unless given")
}

func (f *publishFlags) validate() error {
	namespace, name, two := strings.Cut(f.in, "/")
	switch {
	case f.in == "" && f.pod != "":
		return cli.Usage("--publish-pod goes with --publish")
	case f.in != "" && (!two || namespace == "" || name == "" || strings.Contains(name, "/")):
		return cli.Usage("--publish=%s: must be NAMESPACE/NAME of a ConfigMap", f.in)
	}
	return nil
}

// run runs a reader, and publishes how it is reached, until ctx ends.
func (f *publishFlags) run(ctx context.Context, r *reader.Reader, config *reader.Config) error {
	if f.in == "" {
		return r.Run(ctx)
	}
	p := &finding.Publisher{
		Client: config.Client, Pod: f.pod, Base: config.Base, Authority: r.Authority, Started: time.Now(), Logger: config.Logger,
	}
	p.Namespace, p.Name, _ = strings.Cut(f.in, "/")
	if p.Pod == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("find out the name of this pod (--publish-pod gives it): %w", err)
		}
		p.Pod = host
	}
	at, err := url.Parse(r.URL())
	if err != nil {
		return fmt.Errorf("find out the port of this reader: %w", err)
	}
	_, port, _ := net.SplitHostPort(at.Host)
	p.Port, _ = strconv.Atoi(port) // the listener's
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return r.Run(ctx) })
	all.Go(func() error { return p.Run(ctx) })
	return all.Wait()
}

// basePath is a path of plain parts.
var basePath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// validateBase checks the base path, and takes its last slash off.
func (f *serveFlags) validateBase() error {
	f.base = strings.TrimSuffix(f.base, "/")
	if f.base != "" && !basePath.MatchString(f.base) || strings.Contains(f.base, "/.") {
		return cli.Usage("--base-path=%s: must be a path such as /ledger, of letters, digits and .-_~", f.base)
	}
	return nil
}
