package dial

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Config says how to connect to NATS. If Context names a context of the tool nats, empty fields are taken from it.
type Config struct {
	Context  string // name of a context of the tool nats, or path of a context file; empty for none
	URL      string // one or more servers, comma-separated; empty means nats.DefaultURL
	Name     string // name of this client, shown by the server
	Creds    string // path of a file with a JWT and its key
	NKey     string // path of a file with the seed of an nkey
	CA       string // path of a file with CA certificates for the server; empty means those of the system
	Cert     string // path of a file with the client certificate, for mutual TLS
	Key      string // path of a file with the key of Cert
	TLSFirst bool   // TLS handshake before the server's INFO

	InboxPrefix string // of the subjects for answers; empty means "_INBOX"
	Domain      string // JetStream domain
	APIPrefix   string // prefix of JetStream's subjects in an importing account; not together with Domain

	user, password, token, jwt, seed string // only from a context
}

// Load returns the configuration with the empty fields filled from its context. It returns an error for everything that
// can be checked without a server.
func (c Config) Load() (Config, error) {
	if c.Context != "" {
		var err error
		if c, err = c.withContext(); err != nil {
			return Config{}, err
		}
	}
	if c.URL == "" {
		c.URL = nats.DefaultURL
	}
	if err := c.readable(); err != nil {
		return Config{}, err
	}
	ways := 0
	for _, given := range []string{c.Creds, c.NKey, c.user, c.jwt} {
		if given != "" {
			ways++
		}
	}
	switch {
	case ways > 1:
		return Config{}, fmt.Errorf("connect to NATS: credentials of %d sorts are given (creds, nkey, user, JWT): want one", ways)
	case (c.Cert == "") != (c.Key == ""):
		return Config{}, fmt.Errorf("connect to NATS: a client certificate and its key go together")
	case c.Domain != "" && c.APIPrefix != "":
		return Config{}, fmt.Errorf("connect to NATS: JetStream's domain %q and API prefix %q are both given: want one", c.Domain, c.APIPrefix)
	}
	for what, file := range map[string]string{"credentials": c.Creds, "nkey": c.NKey, "CA": c.CA, "certificate": c.Cert, "key": c.Key} {
		if file == "" {
			continue
		}
		if _, err := os.ReadFile(file); err != nil {
			return Config{}, fmt.Errorf("connect to NATS: read %s: %w", what, err)
		}
	}
	return c, nil
}

// readable checks the URLs. It does not use the error of package url, which quotes the URL with its password.
func (c Config) readable() error {
	for one := range strings.SplitSeq(c.URL, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		if _, err := url.Parse(one); err != nil {
			return fmt.Errorf("connect to NATS: the URL of %s cannot be read: want nats://HOST:PORT, with what is special in a user or a password percent-encoded",
				Config{URL: one}.Servers())
		}
	}
	return nil
}

// Servers returns the URLs without user and password, for people.
func (c Config) Servers() string {
	var shown []string
	for server := range strings.SplitSeq(c.URL, ",") {
		server = strings.TrimSpace(server)
		if scheme, rest, ok := strings.Cut(server, "://"); ok {
			if i := strings.LastIndexByte(rest, '@'); i >= 0 {
				rest = rest[i+1:]
			}
			server = scheme + "://" + rest
		} else if i := strings.LastIndexByte(server, '@'); i >= 0 {
			server = server[i+1:]
		}
		shown = append(shown, server)
	}
	return strings.Join(shown, ",")
}

// Connect starts to connect and does not wait for a server. c must come from Load. options override the settings from
// c.
func (c Config) Connect(options ...nats.Option) (*nats.Conn, error) {
	all := []nats.Option{
		nats.Name(c.Name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		// Publishing fails while there is no connection: nothing is buffered for the next server. A buffered
		// acknowledgement names a position in a stream; if the store was restored meanwhile, that position may hold
		// another message.
		nats.ReconnectBufSize(-1),
		nats.CustomReconnectDelay(func(tries int) time.Duration { return Pause(tries, firstPause, maxPause) }),
		nats.IgnoreAuthErrorAbort(), // permissions can change, and a credentials file can be renewed
		nats.PingInterval(20 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.Timeout(5 * time.Second),
	}
	switch {
	case c.Creds != "":
		all = append(all, nats.UserCredentials(c.Creds)) // read again for each connection
	case c.NKey != "":
		option, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("connect to NATS: %w", err)
		}
		all = append(all, option)
	case c.jwt != "":
		all = append(all, nats.UserJWTAndSeed(c.jwt, c.seed))
	case c.user != "":
		all = append(all, nats.UserInfo(c.user, c.password))
	}
	if c.token != "" {
		all = append(all, nats.Token(c.token))
	}
	if c.CA != "" {
		all = append(all, nats.RootCAs(c.CA))
	}
	if c.Cert != "" {
		all = append(all, nats.ClientCert(c.Cert, c.Key))
	}
	if c.TLSFirst {
		all = append(all, nats.TLSHandshakeFirst())
	}
	if c.InboxPrefix != "" {
		all = append(all, nats.CustomInboxPrefix(c.InboxPrefix))
	}
	conn, err := nats.Connect(c.URL, append(all, options...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", c.Servers(), err)
	}
	return conn, nil
}

// JetStream returns the JetStream API of the connection's account, or of c.Domain or c.APIPrefix if set.
func (c Config) JetStream(conn *nats.Conn) (js jetstream.JetStream, err error) {
	switch {
	case c.Domain != "":
		js, err = jetstream.NewWithDomain(conn, c.Domain)
	case c.APIPrefix != "":
		js, err = jetstream.NewWithAPIPrefix(conn, c.APIPrefix)
	default:
		js, err = jetstream.New(conn)
	}
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	return js, nil
}

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)
