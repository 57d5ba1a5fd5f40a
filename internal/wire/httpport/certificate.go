package httpport

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Certificate returns a TLS configuration with a certificate from files. It reads the files again when they change, so
// a renewed certificate only has to be written to them. If the new pair cannot be read, it logs that, and uses the
// previous pair. It returns an error if the first pair cannot be read.
func Certificate(certFile, keyFile string, logger *slog.Logger) (*tls.Config, error) {
	p := &pair{certFile: certFile, keyFile: keyFile, logger: logger}
	if _, err := p.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.get, NextProtos: []string{"http/1.1"}}, nil
}

// Authority returns, in PEM, the certificate by which clients can check the first one in a file: the last certificate
// of the chain. If the file has only one certificate, it returns that one.
func Authority(certFile string) ([]byte, error) {
	text, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	var last *pem.Block
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			last = block
		}
	}
	if last == nil {
		return nil, fmt.Errorf("read the certificate: there is none in %s", certFile)
	}
	return pem.EncodeToMemory(last), nil
}

// pair is a certificate with its key, and the modification times of its files when they were read.
type pair struct {
	certFile, keyFile string
	logger            *slog.Logger
	broken            seldom

	mu    sync.Mutex
	times [2]time.Time
	now   *tls.Certificate
}

func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var times [2]time.Time
	for i, file := range []string{p.certFile, p.keyFile} {
		info, err := os.Stat(file)
		if err != nil {
			return p.before(err)
		}
		times[i] = info.ModTime()
	}
	if p.now != nil && times == p.times {
		return p.now, nil
	}
	read, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil {
		return p.before(err)
	}
	p.now, p.times = &read, times
	return p.now, nil
}

// before returns the certificate that was read before, or an error if there is none.
func (p *pair) before(err error) (*tls.Certificate, error) {
	if p.now == nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	p.broken.say(p.logger, "the new certificate cannot be read: the one before is used", "error", err)
	return p.now, nil
}
