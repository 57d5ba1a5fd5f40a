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

// Certificate returns a TLS configuration with a certificate from files. It reads the files again when they change: to
// renew the certificate, it is enough to write them. If new files cannot be read, it logs that, and keeps the previous
// certificate. If the first ones cannot be read, it returns an error.
func Certificate(certFile, keyFile string, logger *slog.Logger) (*tls.Config, error) {
	p := &pair{certFile: certFile, keyFile: keyFile, logger: logger}
	if _, err := p.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.get, NextProtos: []string{"http/1.1"}}, nil
}

// Authority returns the certificate, in PEM, with which clients can check the certificate in a file. It is the last one
// in the file: that of the CA in a chain, or the certificate itself if it is the only one.
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

// pair is a certificate with its key, as last read, and the modification times that the two files then had.
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

// before is called when the certificate's files cannot be read, because of err. It returns the certificate that was
// read earlier, or, if there is none, the error.
func (p *pair) before(err error) (*tls.Certificate, error) {
	if p.now == nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	p.broken.say(p.logger, "the new certificate cannot be read: the one before is used", "error", err)
	return p.now, nil
}
