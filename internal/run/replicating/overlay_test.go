package replicating_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
)

// overlay is the servers of deploy/overlays/nats-log, on this machine.
type overlay struct {
	dir            string
	urls, monitors []string
	creds          string // a file
}

// newOverlay starts three servers, each with the overlay's nats.conf, and with accounts as docs/ha.md makes them.
func newOverlay(t *testing.T) *overlay {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/overlays/nats-log/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	o := &overlay{dir: t.TempDir()}
	accounts := o.accounts(t)
	var routes []string // what differs on one machine
	for n := range 3 {
		host := fmt.Sprintf("jobledger-nats-%d.jobledger-nats.jobledger.svc:6222", n)
		if !strings.Contains(string(text), "nats://"+host) {
			t.Fatalf("nats.conf has no route to %s", host)
		}
		routes = append(routes, host, fmt.Sprintf("127.0.0.1:%d", natstest.FreePort(t)))
	}
	for n := range 3 {
		client, monitor := natstest.FreePort(t), natstest.FreePort(t)
		dir := filepath.Join(o.dir, fmt.Sprint(n))
		own := append([]string{
			"$POD_NAME", fmt.Sprintf("jobledger-nats-%d", n), "store_dir: /data", "store_dir: " + dir,
			"\nport: 4222", fmt.Sprintf("\nlisten: 127.0.0.1:%d", client), "\nhttp_port: 8222", fmt.Sprintf("\nhttp: 127.0.0.1:%d", monitor),
			"\n  port: 6222", "\n  listen: " + routes[2*n+1],
		}, routes...)
		config := strings.NewReplacer(own...).Replace(string(text))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "nats.conf")
		for name, content := range map[string]string{file: config, filepath.Join(dir, "accounts.conf"): accounts} {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o.serve(t, file)
		o.urls = append(o.urls, fmt.Sprintf("nats://127.0.0.1:%d", client))
		o.monitors = append(o.monitors, fmt.Sprintf("http://127.0.0.1:%d", monitor))
	}
	return o
}

// serve runs a server as its file says.
func (o *overlay) serve(t *testing.T, file string) {
	t.Helper()
	options, err := natsd.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	options.NoSigs, options.NoLog = true, true
	s, err := natsd.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience.Time()) {
		t.Fatal("the server does not start")
	}
}

// accounts makes an operator, the system's account, the account LOG, and its user, whose credentials it writes. It
// returns what 'nsc generate config --mem-resolver' prints of them.
func (o *overlay) accounts(t *testing.T) string {
	t.Helper()
	made := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		pair, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return pair, public
	}
	signed := func(claims jwt.Claims, by nkeys.KeyPair) string {
		token, err := claims.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	operator, operatorKey := made(nkeys.CreateOperator)
	_, system := made(nkeys.CreateAccount)
	account, accountKey := made(nkeys.CreateAccount)
	user, userKey := made(nkeys.CreateUser)
	ofOperator := jwt.NewOperatorClaims(operatorKey)
	ofOperator.SystemAccount = system
	ofAccount := jwt.NewAccountClaims(accountKey)
	ofAccount.Name = "LOG"
	ofAccount.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: 0, DiskStorage: jwt.NoLimit, Streams: 1, Consumer: jwt.NoLimit,
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	creds, err := jwt.FormatUserConfig(signed(jwt.NewUserClaims(userKey), account), seed)
	if err != nil {
		t.Fatal(err)
	}
	o.creds = filepath.Join(o.dir, "user.creds")
	if err := os.WriteFile(o.creds, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n  %s: %s\n  %s: %s\n}\n",
		signed(ofOperator, operator), system, system, signed(jwt.NewAccountClaims(system), operator), accountKey, signed(ofAccount, operator))
}

// TestTheServersOfTheOverlay hold the stream of a log, on three of them, and each proves that it syncs. The user of the
// account may do what a controller does; nobody else may connect.
func TestTheServersOfTheOverlay(t *testing.T) {
	o := newOverlay(t)
	c := config(t, natstest.NewServer(t, natstest.Inside))
	c.Dial = dial.Config{URL: strings.Join(o.urls, ","), Creds: o.creds}
	c.Stream, c.Replicas, c.Unsafe, c.Monitor = "jobledger-log", 3, false, o.monitors
	m, log := filled(t, c, replicating.Own{})
	leads(t, m, 1)
	if head := log.Head(); head.Sequence != 0 {
		t.Errorf("the new log has record %d", head.Sequence)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	e, err := replicating.Examine(ctx, c)
	if err != nil || e.Missing || len(e.Wrong) > 0 || e.Unseen != "" || len(e.Holders) != 3 {
		t.Errorf("doctor finds %+v, %v", e, err)
	}
	c.Dial.Creds = ""
	if _, err := replicating.Examine(ctx, c); err == nil || !strings.Contains(err.Error(), "Authorization Violation") {
		t.Errorf("without credentials: %v", err)
	}
}
