package httpport

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// said is a logger's output. It is safe for concurrent use.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func fine(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine") }

func run(t *testing.T, c Config) (*Server, *said) {
	t.Helper()
	words := &said{}
	c.Address, c.Logger = "127.0.0.1:0", slog.New(slog.NewTextHandler(words, nil))
	s, err := Listen(c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run() }() // ends with Shutdown
	t.Cleanup(func() {
		if err := s.Shutdown(t.Context()); err != nil {
			t.Log(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, words
}

// TestManyConnectionsAreBounded: thousands that connect and are silent take the memory of a few, and nobody else's
// place.
func TestManyConnectionsAreBounded(t *testing.T) {
	s, words := run(t, Config{Handler: http.HandlerFunc(fine), Connections: 8})
	var silent []net.Conn
	for range 300 {
		conn, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		silent = append(silent, conn)
	}
	response, err := http.Get(s.URL())
	if err != nil {
		t.Fatalf("who asks is not answered: %v", err)
	}
	response.Body.Close()
	for _, conn := range silent[:250] { // closed by the server, so that they end
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Fatal("a silent connection was answered")
		}
	}
	s.mu.Lock()
	open := len(s.open)
	s.mu.Unlock()
	if open > 8 {
		t.Errorf("%d connections are open", open)
	}
	if n := strings.Count(words.String(), "too many connections"); n != 1 {
		t.Errorf("it was said %d times that there are too many:\n%s", n, words)
	}
}

// pipes is a port without a network.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestWhoIsSlowIsCutOff: a request that does not come, and a connection that is not used again.
func TestWhoIsSlowIsCutOff(t *testing.T) {
	for name, row := range map[string]struct {
		says  string
		after time.Duration
	}{
		"nothing is asked":               {"", askWithin},
		"a request without an end":       {"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ", askWithin},
		"nothing after the first answer": {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", silentFor},
	} {
		synctest.Test(t, func(t *testing.T) {
			port := make(pipes)
			s := on(port, Config{Handler: http.HandlerFunc(fine), Logger: slog.New(slog.DiscardHandler)})
			go func() { _ = s.Run() }() // ends with the port
			here, there := net.Pipe()
			port <- there
			began := time.Now()
			go func() { _, _ = io.WriteString(here, row.says) }() // ends with the connection
			if _, err := io.Copy(io.Discard, here); err != nil && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(err)
			}
			if took := time.Since(began); took < row.after || took > row.after+time.Second {
				t.Errorf("%s: closed after %s, not %s", name, took, row.after)
			}
			here.Close()
			close(port)
			synctest.Wait()
		})
	}
}

// TestAnAnswerThatGoesOn: one without a bound is not ended by the time in which a request has to come.
func TestAnAnswerThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port := make(pipes)
		s := on(port, Config{Logger: slog.New(slog.DiscardHandler), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 10 {
				fmt.Fprintln(w, "more")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(silentFor):
				case <-r.Context().Done():
					return
				}
			}
		})})
		go func() { _ = s.Run() }() // ends with the port
		here, there := net.Pipe()
		port <- there
		go func() { _, _ = io.WriteString(here, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") }() // ends with the connection
		response, err := http.ReadResponse(bufio.NewReader(here), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if n := strings.Count(string(text), "more"); n != 10 || err != nil {
			t.Errorf("%d of 10 parts came: %v", n, err)
		}
		here.Close()
		close(port)
		synctest.Wait()
	})
}

// certificate writes a new pair for 127.0.0.1 and returns who would trust it.
func certificate(t *testing.T, dir string, serial int64) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Unix(serial, 0)); err != nil { // two writes may share a tick of the clock
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

// TestCertificatesAreReadAgain: when the files change; a pair that is broken changes nothing.
func TestCertificatesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
	if _, err := Certificate(files[0], files[1], slog.Default()); err == nil {
		t.Error("files that are not there are taken")
	}
	trusted := certificate(t, dir, 1)
	config, err := Certificate(files[0], files[1], slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := run(t, Config{Handler: http.HandlerFunc(fine), TLS: config})
	get := func(trusted *x509.CertPool) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true}}
		response, err := client.Get(s.URL())
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	if err := get(trusted); err != nil {
		t.Error(err)
	}
	renewed := certificate(t, dir, 2)
	if err := get(renewed); err != nil {
		t.Errorf("the renewed certificate is not used: %v", err)
	}
	if err := get(trusted); err == nil {
		t.Error("the certificate before is still used")
	}
	if err := os.WriteFile(files[0], []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := get(renewed); err != nil {
		t.Errorf("a broken file stops the port: %v", err)
	}
}
