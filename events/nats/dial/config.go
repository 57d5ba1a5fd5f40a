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

// Config says where and as whom to connect. What is empty is taken from the context, if there is one.
type Config struct {
	Context  string // the name of a context of the tool nats, or the path of such a file; empty for none
	URL      string // of one server or several, with commas; nats.DefaultURL when nothing says it
	Name     string // of this client, for those who look at the server
	Creds    string // a file with a JWT and the key for it
	NKey     string // a file with the seed of an nkey
	CA       string // a file with the certificates that the server's is checked against; the system's when it is empty
	Cert     string // a file with this client's certificate, for mutual TLS
	Key      string // a file with the key for Cert
	TLSFirst bool   // TLS begins before the server says anything

	InboxPrefix string // of the subjects that answers come to; "_INBOX" when it is empty
	Domain      string // of JetStream
	APIPrefix   string // of JetStream's subjects, where an account imports it; not together with Domain

	user, password, token, jwt, seed string // only a context says them
}

// Load gives the configuration with all that its context says, and checks what can be checked without a server.
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

// readable checks the URLs. What package url says of a bad one quotes it, with the password that is in it.
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

// Servers are the URLs without what is secret in them, for people.
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

// Connect connects, or begins to: it does not wait for a server. The configuration is one that Load gave. The options
// come last and so win.
func (c Config) Connect(options ...nats.Option) (*nats.Conn, error) {
	all := []nats.Option{
		nats.Name(c.Name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		// What was published while there is no server fails, and is not kept for the next one: an acknowledgement is of
		// a place in a stream, which may hold another message when the store was put back meanwhile.
		nats.ReconnectBufSize(-1),
		nats.CustomReconnectDelay(func(tries int) time.Duration { return Pause(tries, firstPause, maxPause) }),
		nats.IgnoreAuthErrorAbort(), // who may connect can change, and a credentials file be renewed
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

// JetStream is the JetStream of the connection's account, or of another domain if the configuration names one.
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
