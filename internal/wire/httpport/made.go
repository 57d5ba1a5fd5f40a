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
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

const (
	madeFor  = 90 * 24 * time.Hour // validity of a certificate
	madeEach = 30 * 24 * time.Hour // time until the certificate is made again, with the same key
	madeBack = time.Hour           // it is valid from this long before, for clients with slow clocks
)

// Made returns a TLS configuration with a self-signed certificate for hosts: names and addresses. Its key lives as long
// as the process; the certificate is made again every 30 days. No authority vouches for it, so a client must check the
// key: pin is the SHA-256 of the public key in the format of curl --pinnedpubkey.
func Made(hosts []string) (config *tls.Config, pin string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	sum := sha256.Sum256(public)
	m := &made{hosts: hosts, key: key}
	if _, err := m.get(nil); err != nil {
		return nil, "", err
	}
	config = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: m.get, NextProtos: []string{"http/1.1"}}
	return config, "sha256//" + base64.StdEncoding.EncodeToString(sum[:]), nil
}

// made is a self-signed certificate and the time when it was made.
type made struct {
	hosts []string
	key   *ecdsa.PrivateKey

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
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "jobledger"},
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
	der, err := x509.CreateCertificate(rand.Reader, template, template, &m.key.PublicKey, m.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	m.now, m.made = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: m.key}, now
	return m.now, nil
}
