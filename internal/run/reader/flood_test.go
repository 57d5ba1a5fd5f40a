package reader_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/reader"
)

// TestAFloodKeepsNobodyOut: 256 connections say nothing, and 2,000 more come and ask for a page as nobody, or not at
// all. Meanwhile a user with a token is answered, and behind it each time, while the silent connections are open still.
func TestAFloodKeepsNobodyOut(t *testing.T) {
	log, spaces := recorded(t)
	r := run(t, reader.Config{Client: cluster(spaces, "admin/"), Log: fixed{local: log}})
	at, err := url.Parse(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			return nil // it may be reset at once
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	if text := follow(t, r, "admin", "/?o=live&from=1")(); !strings.Contains(text, `"changes":"`) {
		t.Errorf("a page heard %q before the flood", text)
	}
	for range 256 {
		if dial() == nil {
			t.Error("a connection is refused before the flood")
		}
	}
	var flood sync.WaitGroup
	for range 20 { // 100 each
		flood.Go(func() {
			for n := range 100 {
				conn := dial()
				if conn == nil || n%2 == 0 { // it says nothing
					continue
				}
				secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // whose it is is tested elsewhere
				_, _ = fmt.Fprint(secure, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")    // it may be closed
			}
		})
	}
	flooded := make(chan struct{})
	go func() { flood.Wait(); close(flooded) }()
	client := &http.Client{Timeout: patience.Time(), Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as above
		DisableKeepAlives: true,
	}}
	answered := func() error {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL()+"/v1/jobs?limit=1", nil)
		if err != nil {
			return err
		}
		q.Header.Set("Authorization", "Bearer admin")
		response, err := client.Do(q)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err == nil && (response.StatusCode != http.StatusOK || !strings.Contains(string(body), `"items"`)) {
			err = fmt.Errorf("%d %s", response.StatusCode, body)
		}
		return err
	}
	during, lost := 0, 0
	for over := false; !over; {
		select {
		case <-flooded:
			over = true
		default:
		}
		if err := answered(); err == nil {
			during++
		} else {
			lost++ // a connection that came with hundreds of others may be closed: a client connects again
		}
	}
	t.Logf("%d answers during the flood, %d connections closed", during, lost)
	for n := range 10 { // the silent connections are open still
		if err := answered(); err != nil {
			t.Errorf("answer %d behind the flood: %v", n, err)
		}
	}
	if during == 0 {
		t.Error("nobody is answered during the flood")
	}
	if text := follow(t, r, "admin", "/?o=live&from=1")(); !strings.Contains(text, `"changes":"`) {
		t.Errorf("a page heard %q behind the flood", text)
	}
}

// follow asks for events as a user; the function that it returns gives the first one.
func follow(t *testing.T, r *reader.Reader, user, address string) (first func() string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL()+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+user)
	client := &http.Client{Timeout: patience.Time(), Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as above
	}}
	answer, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return func() string {
		text := make([]byte, 1<<10)
		n, err := io.ReadAtLeast(answer.Body, text, 40)
		if err != nil {
			t.Error(err)
		}
		return string(text[:n])
	}
}
