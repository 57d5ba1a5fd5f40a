package acting

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/following"
	"github.com/jobledger/jobledger/internal/run/replicating"
)

// followFlags are the flags about controllers that share a log: one leads, and the others copy its log. Without these
// flags, no other controller has this controller's log.
type followFlags struct {
	controllers []string // URLs of the controllers
	authorities string   // file with CA certificates; empty for those of the system
	// file with a bearer token; empty for the token that this process uses for the API server
	token string
}

func (f *followFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.controllers, following.Flag, nil,
		"alpha: URLs of the controllers that follow each other's log, such as https://jobledger-ha:10272; each address is one, "+
			"this one may be among them; each has a --log of its own, and --readers")
	flags.StringVar(&f.authorities, following.AuthorityFlag, "",
		"with --follow, who signed the certificates of these controllers; those that the system trusts unless given")
	flags.StringVar(&f.token, following.TokenFlag, "",
		"with --follow, file with the token that they are shown; the one that the API server is shown unless given")
}

// wanted reports whether --follow is set: this controller shares its log with others.
func (f *followFlags) wanted() bool { return len(f.controllers) > 0 }

// goTogether returns a usage error for flags of run that contradict --follow, or that have no effect without it. mode
// is the value of --manage.
func (f *followFlags) goTogether(run *RunFlags, flags *pflag.FlagSet, mode events.Mode) error {
	if !f.wanted() {
		for _, name := range []string{following.AuthorityFlag, following.TokenFlag} {
			if flags.Changed(name) {
				return cli.Usage("--%s goes with --%s, which says where the other controllers are", name, following.Flag)
			}
		}
		if flags.Changed(replicating.KeyFlag) && run.replicate.URL == "" {
			return cli.Usage("--%s goes with --%s or --%s: one controller makes the key of its log by itself",
				replicating.KeyFlag, following.Flag, replicating.Flag)
		}
		return nil
	}
	refuse := func(flag, why string) error {
		return cli.Usage("--%s does not go with --%s: %s", flag, following.Flag, why)
	}
	switch {
	case run.elect.alone:
		return refuse(controller.AloneFlag, "a controller that follows is not alone")
	case run.replicate.URL != "":
		return refuse(replicating.Flag, "the one copies the log through NATS, the other from the controller that leads. Give one")
	case run.nats.embedded:
		return refuse("nats-embedded", "after a takeover the stream of records would be another one. "+
			"Publish to servers of their own (--nats-url)")
	case mode == events.ModeObserve:
		return refuse("manage=observe", "who observes writes nothing to the cluster, and needs no standby")
	case !run.elect.on:
		return refuse("leader-elect=false", "the Lease says who leads, and in which epoch")
	case run.epoch != 0:
		return refuse(controller.EpochFlag, "a standby that leads begins the next epoch by itself")
	case run.copy.to != "":
		return refuse(controller.CopyFlag, "a copy may have records that the next leader lacks, and would refuse it. "+
			"Each controller has the whole log; 'jobledger backup' copies one")
	case !run.scrape.readers:
		return cli.Usage("--%s: this controller must give its log to the others, too: --readers, with "+
			"--metrics-bind-address, --metrics-tls-cert-file and --metrics-tls-key-file", following.Flag)
	case run.replicate.keyFile == "":
		return cli.Usage("--%s: all controllers need one key: --%s FILE with 32 random bytes, or with the KEY of the log "+
			"that there is", following.Flag, replicating.KeyFlag)
	}
	for _, address := range f.controllers {
		if _, err := feed.NewClient(address, nil, nil); err != nil {
			return cli.Usage("--%s: %v", following.Flag, err)
		}
	}
	return nil
}

// config returns from which controllers to copy the log, as the flags say; nil without --follow.
func (f *followFlags) config(cluster *controller.Cluster, keyFile string) (*controller.FollowConfig, error) {
	if !f.wanted() {
		return nil, nil
	}
	authorities, err := readAuthorities(following.AuthorityFlag, f.authorities)
	if err != nil {
		return nil, err
	}
	token := f.readToken
	if f.token == "" {
		token = cluster.Token
	}
	if _, err := token(); err != nil {
		return nil, fmt.Errorf("--%s: the other controllers want a token of Kubernetes: %w; or name a file with one, with --%s",
			following.Flag, err, following.TokenFlag)
	}
	c := &controller.FollowConfig{Where: strings.Join(f.controllers, ", ")}
	for _, address := range f.controllers {
		client, err := feed.NewClient(address, authorities, token)
		if err != nil {
			return nil, cli.Usage("--%s: %v", following.Flag, err)
		}
		c.Clients = append(c.Clients, client)
	}
	c.Key, err = readKey(keyFile)
	return c, err
}

// readToken reads the file with the bearer token. It is called for each request, because the token of a ServiceAccount
// changes.
func (f *followFlags) readToken() (string, error) { return readToken(f.token) }

// errNoToken is returned if the file with the token is empty.
var errNoToken = errors.New("it is empty")

// readToken returns the bearer token in a file.
func readToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return "", fmt.Errorf("%s: %w", file, errNoToken)
	}
	return string(text), nil
}

// readAuthorities returns the CA certificates in a file; nil if file is empty. flag is the flag that names the file,
// for errors.
func readAuthorities(flag, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, cli.Usage("--%s=%s: there is no certificate in it", flag, file)
	}
	return authorities, nil
}
