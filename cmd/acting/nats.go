package acting

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	natsgo "github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/store/regular"
)

// embeddedURL is where the NATS server answers that runs in the process of the controller with that log.
func embeddedURL(log string) (string, error) {
	text, err := regular.Read(filepath.Join(log, controller.NATSFile), cli.MostAddress)
	if err != nil {
		return "", fmt.Errorf("find the NATS server of the controller with that log (it runs with --nats-embedded?): %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// embeddedReader connects as one who reads from that server. The secret is read for each connection: it may be made
// anew.
func embeddedReader(log string) natsgo.Option {
	return natsgo.UserInfoHandler(func() (user, password string) {
		text, err := regular.Read(filepath.Join(log, controller.ReaderFile), cli.MostAddress)
		if err != nil {
			return "", "" // the server says itself that it needs one
		}
		return readerUser, strings.TrimSpace(string(text))
	})
}

// readerUser is embedded.Reader, without a server in each program that reads.
const readerUser = "reader"

// embeddedDialer connects to that server wherever it is at that moment: each start of the controller may give it
// another address.
type embeddedDialer struct{ log string }

// Dial looks up the address anew; the one that the client knows may be that of a server which is gone.
func (d embeddedDialer) Dial(network, _ string) (net.Conn, error) {
	text, err := embeddedURL(d.log)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	return net.DialTimeout(network, at.Host, connectTimeout)
}

// natsFlags say where NATS is, and as whom to connect. There is none for a password, which everybody on the machine
// would see: it stands in a context or in a file.
type natsFlags struct{ dial.Config }

func (f *natsFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.URL, "nats-url", "", "NATS servers, with commas, such as nats://a:4222,nats://b:4222")
	flags.StringVar(&f.Context, "nats-context", "", "context of the tool nats, by its name or its file; other flags win over what it says")
	flags.StringVar(&f.Creds, "nats-creds", "", "file with a JWT and its key")
	flags.StringVar(&f.NKey, "nats-nkey", "", "file with the seed of an nkey")
	flags.StringVar(&f.CA, "nats-ca", "", "file with the certificates that the server's is checked against")
	flags.StringVar(&f.Cert, "nats-cert", "", "file with a client certificate, for mutual TLS")
	flags.StringVar(&f.Key, "nats-key", "", "file with the key of the client certificate")
	flags.BoolVar(&f.TLSFirst, "nats-tls-first", false, "begin TLS before the server says anything")
	flags.StringVar(&f.Domain, "nats-domain", "", "JetStream domain")
	for _, name := range []string{"nats-creds", "nats-nkey", "nats-ca", "nats-cert", "nats-key"} {
		if err := cmd.MarkFlagFilename(name); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// where reports whether it is said where NATS is.
func (f *natsFlags) where() bool { return f.URL != "" || f.Context != "" }

// check refuses what a person should not do.
func (f *natsFlags) check() error {
	if hasSecret(f.URL) {
		return cli.Usage("--nats-url: everybody on this machine can see the secret in it; put it into a context (--nats-context) or a file (--nats-creds)")
	}
	return nil
}

// hasSecret reports whether URLs have one.
func hasSecret(urls string) bool { return strings.Contains(urls, "@") }
