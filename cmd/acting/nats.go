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

// embeddedURL returns the address of the NATS server that runs inside a controller; log is that controller's log
// directory.
func embeddedURL(log string) (string, error) {
	text, err := regular.Read(filepath.Join(log, controller.NATSFile), cli.MostAddress)
	if err != nil {
		return "", fmt.Errorf("find the NATS server of the controller with that log (it runs with --nats-embedded?): %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// embeddedReader returns an option for connecting to the NATS server inside a controller, as a user who may only read.
// It reads the password again for each connection, because the password may change.
func embeddedReader(log string) natsgo.Option {
	return natsgo.UserInfoHandler(func() (user, password string) {
		text, err := regular.Read(filepath.Join(log, controller.ReaderFile), cli.MostAddress)
		if err != nil {
			return "", "" // the server then answers that a password is missing
		}
		return readerUser, strings.TrimSpace(string(text))
	})
}

// readerUser is the same as embedded.Reader. It is repeated here so that programs that only read do not link the
// server.
const readerUser = "reader"

// embeddedDialer connects to the NATS server inside a controller. It reads the address again for each connection,
// because each start of the controller may change it.
type embeddedDialer struct{ log string }

// Dial implements the client's dialer: it connects to the present address, and ignores the one that the client knows.
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

// natsFlags are the flags that say where NATS is, and as which user to connect. No flag takes a password, because every
// user of the machine could see it: passwords belong in a context or a file.
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
			panic(err) // a bug: it fails only if there is no such flag
		}
	}
}

// where reports whether a flag names a NATS server.
func (f *natsFlags) where() bool { return f.URL != "" || f.Context != "" }

// check returns a usage error if --nats-url contains a secret.
func (f *natsFlags) check() error {
	if hasSecret(f.URL) {
		return cli.Usage("--nats-url: everybody on this machine can see the secret in it; put it into a context (--nats-context) or a file (--nats-creds)")
	}
	return nil
}

// hasSecret reports whether the URLs contain a user or a password.
func hasSecret(urls string) bool { return strings.Contains(urls, "@") }
