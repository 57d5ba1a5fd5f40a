package httpport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// dial opens a connection, and says something there. It is closed with the test.
func dial(t *testing.T, s *Server, says string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, _ = fmt.Fprint(conn, says) // the server may have closed it
	return conn
}

// answers checks that who asks is answered, several times.
func answers(t *testing.T, s *Server) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	for i := range 10 {
		response, err := client.Get(s.URL() + "/readyz")
		if err != nil {
			t.Fatalf("probe %d is not answered: %v", i+1, err)
		}
		response.Body.Close()
	}
}

// TestRequestsThatDoNotEndKeepNobodyOut: each connection has a request, so none of them is silent. Of some the body
// does not come, the answers to others are not read.
func TestRequestsThatDoNotEndKeepNobodyOut(t *testing.T) {
	begun := make(chan struct{}, 1000)
	long := strings.Repeat("x", 8<<20)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", fine)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		fmt.Fprint(w, long)
	})
	t.Run("a body that does not come", func(t *testing.T) {
		s, _ := run(t, Config{Handler: mux, Connections: 16, Answer: time.Hour})
		for _, method := range []string{"GET", "POST"} {
			for range 16 {
				conn := dial(t, s, method+" /readyz HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx")
				if err := conn.SetReadDeadline(time.Now().Add(patience.Time())); err != nil {
					t.Fatal(err)
				}
				if _, err := conn.Read(make([]byte, 1)); err != nil { // the answer is there, and the body is to come
					t.Fatal(err)
				}
			}
			answers(t, s)
		}
	})
	t.Run("an answer that nobody reads", func(t *testing.T) {
		s, words := run(t, Config{Handler: mux, Connections: 16, Answer: time.Hour})
		for range 16 {
			dial(t, s, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
			<-begun
		}
		answers(t, s)
		if n := strings.Count(words.String(), "\n"); n != 1 {
			t.Errorf("it says %d lines:\n%s", n, words)
		}
	})
}

// TestNoiseDoesNotFillTheLog: connections that do not begin TLS, certificates that cannot be read, questions that
// nobody answers.
func TestNoiseDoesNotFillTheLog(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, 1)
	words := &said{}
	logger := slog.New(slog.NewTextHandler(words, nil))
	config, err := Certificate(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), logger)
	if err != nil {
		t.Fatal(err)
	}
	s, noise := run(t, Config{Handler: http.HandlerFunc(fine), TLS: config})
	for range 100 {
		conn := dial(t, s, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
		for b := make([]byte, 1000); err == nil; {
			_, err = conn.Read(b)
		}
		err = nil
	}
	answers(t, s)
	if n := strings.Count(noise.String(), "\n"); n != 1 {
		t.Errorf("100 connections without TLS make %d lines:\n%.1000s", n, noise)
	}

	p := &pair{logger: logger, now: &tls.Certificate{}}
	for range 10 {
		if _, err := p.before(errors.New("broken")); err != nil {
			t.Fatal(err)
		}
	}
	client := fake.NewClientset()
	client.PrependReactor("create", "tokenreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("away")
	})
	guarded := (&Delegated{Client: client, Logger: logger}).Guard(http.HandlerFunc(fine))
	for i := range 10 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		r.Header.Set("Authorization", fmt.Sprint("Bearer ", i))
		w := httptest.NewRecorder()
		if guarded.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d", w.Code)
		}
	}
	if n := strings.Count(words.String(), "\n"); n != 2 {
		t.Errorf("it says %d lines, want one of the certificate and one of the API server:\n%s", n, words)
	}
}
