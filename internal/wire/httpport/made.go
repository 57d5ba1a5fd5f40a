package httpport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

const (
	madeFor  = 90 * 24 * time.Hour // how long the server's certificate is valid
	madeEach = 30 * 24 * time.Hour // when a new certificate is made, with the same key
	madeBack = time.Hour           // how far back a certificate is valid, for clients with slow clocks
	// Validity of the CA. It exists only in the memory of a process, and no process runs for ten years.
	authorityFor = 10 * 365 * 24 * time.Hour
)

// Own is a TLS configuration with a certificate that this process made, and what clients need to trust it.
type Own struct {
	TLS       *tls.Config
	Authority []byte // certificate, in PEM, of the CA that signed it
	// Pin is a hash (SHA-256) of the certificate's public key, in the form of curl --pinnedpubkey. It is for clients
	// that do not have the CA.
	Pin string
}

// Made makes a CA, and a server certificate that the CA signs. hosts are the names and addresses that the certificate
// is for. The keys are in memory only, as long as the process lives. The certificate is renewed every 30 days.
func Made(hosts []string) (*Own, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	sum := sha256.Sum256(public)
	m := &made{hosts: hosts, key: key, ca: ca}
	if _, err := m.get(nil); err != nil {
		return nil, err
	}
	return &Own{
		TLS:       &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: m.get, NextProtos: []string{"http/1.1"}},
		Authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw}),
		Pin:       "sha256//" + base64.StdEncoding.EncodeToString(sum[:]),
	}, nil
}

// authority is a CA that was made by this process, to sign one certificate.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// newAuthority makes a CA. Each one has another name: a client that trusts an earlier one then reports an unknown CA,
// and not a wrong signature.
func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	number, err := serial()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "jobledger CA " + number.Text(36)},
		NotBefore: now.Add(-madeBack), NotAfter: now.Add(authorityFor),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make a CA: %w", err)
	}
	return &authority{key, cert}, nil
}

func serial() (*big.Int, error) {
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return number, nil
}

// made is a server certificate with its key, and the time when it was made: it is renewed when it gets old.
type made struct {
	hosts []string
	key   *ecdsa.PrivateKey
	ca    *authority

	mu   sync.Mutex
	now  *tls.Certificate
	made time.Time
}

func (m *made) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.now != nil && now.Sub(m.made) < madeEach {
		return m.now, nil
	}
	number, err := serial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "jobledger"},
		NotBefore: now.Add(-madeBack), NotAfter: now.Add(madeFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, host := range m.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, m.ca.cert, &m.key.PublicKey, m.ca.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	m.now, m.made = &tls.Certificate{Certificate: [][]byte{der, m.ca.cert.Raw}, PrivateKey: m.key}, now
	return m.now, nil
}
