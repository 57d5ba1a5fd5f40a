package beside

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificates are the certificates and keys for a webhook server, in PEM.
type certificates struct{ ca, caKey, server, serverKey []byte }

// newCertificates makes an authority and a certificate for loopback. If they lack two names, Kueue replaces them: its
// own name for the authority, and the name of its Service.
func newCertificates(name, service string) (*certificates, error) {
	authority := template(name)
	authority.DNSNames = []string{name}
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	caKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	c := new(certificates)
	if c.ca, c.caKey, err = sign(authority, authority, caKey, caKey); err != nil {
		return nil, err
	}
	server := template(service)
	server.DNSNames, server.IPAddresses = []string{service}, []net.IP{net.IPv4(127, 0, 0, 1)}
	server.KeyUsage = x509.KeyUsageDigitalSignature
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	serverKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	c.server, c.serverKey, err = sign(server, authority, serverKey, caKey)
	return c, err
}

// template is valid for a year: Kueue replaces a certificate that ends within 90 days.
func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(365 * 24 * time.Hour),
	}
}

// sign signs a certificate, and encodes the key in the format that Kueue reads.
func sign(of, by *x509.Certificate, key, byKey *rsa.PrivateKey) (cert, private []byte, err error) {
	der, err := x509.CreateCertificate(rand.Reader, of, by, key.Public(), byKey)
	if err != nil {
		return nil, nil, err
	}
	private = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), private, nil
}

// write writes them where a webhook server reads them.
func (c *certificates) write(dir string) error {
	for name, data := range map[string][]byte{"ca.crt": c.ca, "ca.key": c.caKey, "tls.crt": c.server, "tls.key": c.serverKey} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
