package dial_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/jobledger/jobledger/events/nats/dial"
)

// patient is a limit for things that happen at once, on a busy machine.
const patient = 2 * time.Minute

// serve runs a server in this process until the test ends.
func serve(t *testing.T, o *natsd.Options) string {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", natsd.RANDOM_PORT, true, true
	s, err := natsd.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patient) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// reaches connects and asks the server something. With want false the server must not let it in.
func reaches(t *testing.T, c dial.Config, want bool) {
	t.Helper()
	loaded, err := c.Load()
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 100)
	conn, err := loaded.Connect(natsgo.ReconnectErrHandler(func(_ *natsgo.Conn, err error) { refused <- err }))
	if err != nil {
		t.Fatalf("a server that refuses is no error at first: %v", err)
	}
	defer conn.Close()
	if !want {
		if err := <-refused; conn.IsConnected() || err == nil {
			t.Error("the server lets in who it should not")
		}
		return
	}
	if err := conn.FlushTimeout(patient); err != nil {
		t.Errorf("the server does not let us in: %v (%v)", err, conn.LastError())
	}
}

// TestNothingIsKeptForTheNextServer: an acknowledgement that waits for a connection would name a place in a stream. By
// then another message may have that place.
func TestNothingIsKeptForTheNextServer(t *testing.T) {
	loaded, err := dial.Config{URL: "nats://127.0.0.1:1"}.Load() // where nothing listens
	if err != nil {
		t.Fatal(err)
	}
	conn, err := loaded.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Publish("subject", nil); !errors.Is(err, natsgo.ErrReconnectBufExceeded) {
		t.Errorf("publishing without a server says %v, want %v", err, natsgo.ErrReconnectBufExceeded)
	}
}

func newKey(t *testing.T, make func() (nkeys.KeyPair, error)) (public string, seed []byte, pair nkeys.KeyPair) {
	t.Helper()
	pair, err := make()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	if seed, err = pair.Seed(); err != nil {
		t.Fatal(err)
	}
	return public, seed, pair
}

func TestWhoConnectsIsKnownByAnNKey(t *testing.T) {
	public, seed, _ := newKey(t, nkeys.CreateUser)
	url := serve(t, &natsd.Options{Nkeys: []*natsd.NkeyUser{{Nkey: public}}})
	_, other, _ := newKey(t, nkeys.CreateUser)
	dir := t.TempDir()
	reaches(t, dial.Config{URL: url, NKey: write(t, dir, "seed", string(seed))}, true)
	reaches(t, dial.Config{URL: url, NKey: write(t, dir, "other", string(other))}, false)
	reaches(t, dial.Config{URL: url}, false)
}

func TestWhoConnectsIsKnownByAJWT(t *testing.T) {
	operator, _, operatorPair := newKey(t, nkeys.CreateOperator)
	account, _, accountPair := newKey(t, nkeys.CreateAccount)
	user, userSeed, _ := newKey(t, nkeys.CreateUser)
	encode := func(c jwt.Claims, by nkeys.KeyPair) string {
		text, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operatorClaims := jwt.NewOperatorClaims(operator)
	accountJWT := encode(jwt.NewAccountClaims(account), operatorPair)
	userClaims := jwt.NewUserClaims(user)
	userClaims.IssuerAccount = account
	userJWT := encode(userClaims, accountPair)
	resolver := &natsd.MemAccResolver{}
	if err := resolver.Store(account, accountJWT); err != nil {
		t.Fatal(err)
	}
	signed, err := jwt.DecodeOperatorClaims(encode(operatorClaims, operatorPair))
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, &natsd.Options{TrustedOperators: []*jwt.OperatorClaims{signed}, AccountResolver: resolver})
	creds, err := jwt.FormatUserConfig(userJWT, userSeed)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	reaches(t, dial.Config{URL: url, Creds: write(t, dir, "user.creds", string(creds))}, true)
	reaches(t, dial.Config{Context: write(t, dir, "jwt.json", fmt.Sprintf(`{"url":%q,"user_jwt":%q,"user_seed":%q}`, url, userJWT, userSeed))}, true)
	reaches(t, dial.Config{URL: url}, false)
}

func TestWhoConnectsIsKnownByAContext(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	url := serve(t, &natsd.Options{Username: "me", Password: "secret"})
	write(t, dir, "nats/context/mine.json", fmt.Sprintf(`{"url":%q,"user":"me","password":"secret"}`, url))
	write(t, dir, "nats/context/wrong.json", fmt.Sprintf(`{"url":%q,"user":"me","password":"guess"}`, url))
	reaches(t, dial.Config{Context: "mine"}, true)
	reaches(t, dial.Config{Context: "wrong"}, false)

	token := serve(t, &natsd.Options{Authorization: "s3cr3t"})
	write(t, dir, "nats/context/token.json", fmt.Sprintf(`{"url":%q,"token":"s3cr3t"}`, token))
	reaches(t, dial.Config{Context: "token"}, true)
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key, a.file, _ = a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) sign(name string, c *x509.Certificate) (cert *x509.Certificate, key *ecdsa.PrivateKey, certFile, keyFile string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		a.t.Fatal(err)
	}
	certFile = write(a.t, a.dir, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	keyFile = write(a.t, a.dir, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})))
	return cert, key, certFile, keyFile
}

func TestTLSAndMutualTLS(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	_, _, serverCert, serverKey := ca.sign("server", &x509.Certificate{})
	_, _, clientCert, clientKey := ca.sign("client", &x509.Certificate{})
	_, _, strangeCert, strangeKey := stranger.sign("client", &x509.Certificate{})
	server := func(mutual, first bool) string {
		pair, err := tls.LoadX509KeyPair(serverCert, serverKey)
		if err != nil {
			t.Fatal(err)
		}
		c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		if mutual {
			pool := x509.NewCertPool()
			pool.AddCert(ca.cert)
			c.ClientCAs, c.ClientAuth = pool, tls.RequireAndVerifyClientCert
		}
		return strings.Replace(serve(t, &natsd.Options{TLSConfig: c, TLSTimeout: 10, TLSHandshakeFirst: first}), "nats://", "tls://", 1)
	}
	plain, mutual, first := server(false, false), server(true, false), server(false, true)
	reaches(t, dial.Config{URL: plain, CA: ca.file}, true)
	reaches(t, dial.Config{URL: plain}, false)
	reaches(t, dial.Config{URL: plain, CA: stranger.file}, false)
	reaches(t, dial.Config{URL: mutual, CA: ca.file, Cert: clientCert, Key: clientKey}, true)
	reaches(t, dial.Config{URL: mutual, CA: ca.file, Cert: strangeCert, Key: strangeKey}, false)
	reaches(t, dial.Config{URL: mutual, CA: ca.file}, false)
	reaches(t, dial.Config{URL: first, CA: ca.file, TLSFirst: true}, true)
	context := write(t, t.TempDir(), "tls.json", fmt.Sprintf(`{"url":%q,"ca":%q,"cert":%q,"key":%q}`, mutual, ca.file, clientCert, clientKey))
	reaches(t, dial.Config{Context: context}, true)
}
