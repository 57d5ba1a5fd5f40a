package acting

import (
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/run/controller"
)

// scrapeFlags are the flags about the port that answers probes and scrapers on other machines.
type scrapeFlags struct {
	address           string // empty for no such port
	certFile, keyFile string // empty for plain HTTP
	authorize         bool
	readers           bool // also give the log's records to readers
}

func (f *scrapeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "metrics-bind-address", "", "address for health and metrics alone, such as :10272; empty or 0 for none")
	flags.StringVar(&f.certFile, "metrics-tls-cert-file", "", "certificate for --metrics-bind-address; it is read again when it changes")
	flags.StringVar(&f.keyFile, "metrics-tls-key-file", "", "key of that certificate")
	flags.BoolVar(&f.authorize, "metrics-authorize", false, "ask the API server who may read the metrics at --metrics-bind-address (TokenReview, SubjectAccessReview)")
	flags.BoolVar(&f.readers, "readers", false,
		"at --metrics-bind-address, give records to who may get the non-resource URL /v1/ (jobledger serve --controllers)")
}

// validate returns a usage error for flags that contradict each other.
func (f *scrapeFlags) validate() error {
	if f.address == "0" {
		f.address = "" // 0 means no port, as with other controllers
	}
	switch {
	case (f.certFile == "") != (f.keyFile == ""):
		return cli.Usage("--metrics-tls-cert-file and --metrics-tls-key-file go together: give both")
	case f.address == "" && (f.certFile != "" || f.authorize || f.readers):
		return cli.Usage("--metrics-tls-cert-file, --metrics-tls-key-file, --metrics-authorize and --readers " +
			"go with --metrics-bind-address")
	case f.authorize && f.certFile == "":
		return cli.Usage("--metrics-authorize takes tokens, which need TLS: give --metrics-tls-cert-file and --metrics-tls-key-file")
	case f.readers && f.certFile == "":
		return cli.Usage("--readers takes tokens, which need TLS: give --metrics-tls-cert-file and --metrics-tls-key-file")
	case f.address == "":
		return nil
	}
	if err := checkAddress(f.address); err != nil {
		return cli.Usage("--metrics-bind-address=%s: %v", f.address, err)
	}
	return nil
}

// config returns the configuration that the flags choose.
func (f *scrapeFlags) config() controller.ScrapeConfig {
	return controller.ScrapeConfig{
		Address: f.address, CertFile: f.certFile, KeyFile: f.keyFile, Authorize: f.authorize, Readers: f.readers,
	}
}

// checkAddress returns an error unless address is a valid address to listen on.
func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("a host and a port are wanted, such as %s", defaultListen)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is no port", port)
	}
	return nil
}
