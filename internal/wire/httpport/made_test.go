package httpport

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"
)

// TestACertificateIsMade: for the hosts that are named and no other, with the key that the pin is of, signed by the CA
// that is given with it. After a month there is another one with the same key, and none is ever over. The CA of another
// process vouches for none.
func TestACertificateIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, err := Made([]string{"localhost", "127.0.0.1", "reader.jobledger.svc"})
		if err != nil {
			t.Fatal(err)
		}
		other, err := Made([]string{"localhost"})
		if err != nil {
			t.Fatal(err)
		}
		config, pin, pool, strange := own.TLS, own.Pin, x509.NewCertPool(), x509.NewCertPool()
		if !pool.AppendCertsFromPEM(own.Authority) || !strange.AppendCertsFromPEM(other.Authority) {
			t.Fatal("the CA is no certificate")
		}
		serials := map[string]bool{}
		for day := range 100 {
			served, err := config.GetCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			cert, err := x509.ParseCertificate(served.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			serials[cert.SerialNumber.String()] = true
			sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
			if got := "sha256//" + base64.StdEncoding.EncodeToString(sum[:]); got != pin {
				t.Fatalf("day %d: the key is %s, want %s", day, got, pin)
			}
			if _, err := cert.Verify(x509.VerifyOptions{DNSName: "localhost", Roots: strange, CurrentTime: time.Now()}); err == nil {
				t.Error("the CA of another process vouches for it")
			}
			for host, known := range map[string]bool{
				"localhost": true, "127.0.0.1": true, "reader.jobledger.svc": true, "example.org": false, "10.0.0.1": false,
			} {
				options := x509.VerifyOptions{DNSName: host, Roots: pool, CurrentTime: time.Now()}
				if _, err := cert.Verify(options); (err == nil) != known {
					t.Errorf("day %d: as %s: %v", day, host, err)
				}
			}
			time.Sleep(24 * time.Hour)
		}
		if len(serials) != 4 {
			t.Errorf("%d certificates in 100 days, want one each 30", len(serials))
		}
	})
}
