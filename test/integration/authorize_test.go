package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
)

// TestTheAPIServerDecidesWhoReadsMetrics: with --metrics-authorize, by tokens of ServiceAccounts that the API server
// issued. Tried are a token with the right, one without, one of a deleted ServiceAccount, a forged one, and none.
// Probes need no token.
func TestTheAPIServerDecidesWhoReadsMetrics(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	if err := w.cp.Bind(t.Context(), w.namespace, "system:auth-delegator"); err != nil {
		t.Fatal(err)
	}
	scraper, tenant := w.token("scraper"), w.token("tenant")
	w.mayScrape("scraper")
	cert, key, trusted := w.certificate()
	c := w.newController("", "--metrics-bind-address=127.0.0.1:0", "--metrics-authorize", "--metrics-tls-cert-file="+cert, "--metrics-tls-key-file="+key)
	w.start(c)
	address := w.metricsAddress(c.Output)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}, Timeout: patience.Time()}
	get := func(path, token string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	w.eventually("the one with the right reads metrics", func() (bool, error) { // the API server learns of a role by and by
		status, text := get("/metrics", scraper)
		return status == http.StatusOK && strings.Contains(text, "\njobledger_build_info{") && strings.Contains(text, "\nrest_client_requests_total{") &&
			strings.Contains(text, "\nleader_election_slowpath_total{"), nil
	})
	if status, text := get("/metrics/slis", scraper); status != http.StatusOK || !strings.Contains(text, "\nkubernetes_healthcheck{") {
		t.Errorf("/metrics/slis: %d %.200s", status, text)
	}
	for _, row := range []struct {
		sentence, token string
		want            int
	}{
		{"without a token", "", http.StatusUnauthorized},
		{"with a token without the right", tenant, http.StatusForbidden},
		{"with a token that was tampered with", scraper[:len(scraper)-8] + "AAAAAAAA", http.StatusUnauthorized},
		{"with no token of the API server", "secret", http.StatusUnauthorized},
	} {
		for _, path := range []string{"/metrics", "/metrics/slis"} {
			if status, text := get(path, row.token); status != row.want || strings.Contains(text, "jobledger_") {
				t.Errorf("%s %s: %d, want %d", path, row.sentence, status, row.want)
			}
		}
	}
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		if status, _ := get(path, ""); status != http.StatusOK {
			t.Errorf("%s without a token: %d", path, status)
		}
	}
	if err := w.client.CoreV1().ServiceAccounts(w.namespace).Delete(t.Context(), "scraper", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("a token whose ServiceAccount is gone is not good any more", func() (bool, error) {
		status, _ := get("/metrics", scraper)
		return status == http.StatusUnauthorized, nil
	})
}

// token creates a ServiceAccount, and returns a token of it.
func (w *world) token(account string) string {
	w.t.Helper()
	accounts := w.client.CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	request, err := accounts.CreateToken(w.t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return request.Status.Token
}

// mayScrape gives a ServiceAccount the right to read metrics, as Prometheus has it for other components.
func (w *world) mayScrape(account string) {
	w.t.Helper()
	w.mayGet(w.namespace+"-"+account, account, "/metrics", "/metrics/slis")
}

// mayGet gives a ServiceAccount the right to get non-resource paths, by a ClusterRole of that name.
func (w *world) mayGet(name, account string, paths ...string) {
	w.t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{NonResourceURLs: paths, Verbs: []string{"get"}},
	}}
	if _, err := w.client.RbacV1().ClusterRoles().Create(w.t.Context(), role, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: account}},
	}
	if _, err := w.client.RbacV1().ClusterRoleBindings().Create(w.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// certificate writes certificate and key for 127.0.0.1, and returns the pool that trusts them.
func (w *world) certificate() (certFile, keyFile string, trusted *x509.CertPool) {
	w.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		w.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		w.t.Fatal(err)
	}
	trusted = x509.NewCertPool()
	for i, block := range []*pem.Block{{Type: "CERTIFICATE", Bytes: der}, {Type: "PRIVATE KEY", Bytes: secret}} {
		text := pem.EncodeToMemory(block)
		if i == 0 {
			trusted.AppendCertsFromPEM(text)
		}
		if err := os.WriteFile(filepath.Join(w.dir, fmt.Sprint("tls-", i)), text, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	return filepath.Join(w.dir, "tls-0"), filepath.Join(w.dir, "tls-1"), trusted
}
