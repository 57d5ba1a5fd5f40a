package identity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/internal/wire/identity"
)

// cluster is an API server that knows tokens, which are names of users, and who may list Jobs where.
type cluster struct {
	*fake.Clientset
	may     map[string]bool // "user/namespace"; the namespace is empty for all
	revoked map[string]bool
	away    bool
	reviews int
}

func newCluster(objects ...runtime.Object) *cluster {
	c := &cluster{Clientset: fake.NewClientset(objects...), may: map[string]bool{}, revoked: map[string]bool{}}
	c.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if c.away {
			return true, nil, errors.New("away")
		}
		c.reviews++
		r := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		if !c.revoked[r.Spec.Token] {
			r.Status = authenticationv1.TokenReviewStatus{Authenticated: true,
				User: authenticationv1.UserInfo{Username: r.Spec.Token}}
		}
		return true, r, nil
	})
	c.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if c.away {
			return true, nil, errors.New("away")
		}
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		of := r.Spec.ResourceAttributes
		r.Status.Allowed = of.Verb == "list" && of.Group == "batch" && of.Resource == "jobs" &&
			c.may[r.Spec.User+"/"+of.Namespace]
		return true, r, nil
	})
	return c
}

func request(t *testing.T, header, value string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if header != "" {
		r.Header.Set(header, value)
	}
	return r
}

// refusal is the status and the words of an error.
func refusal(t *testing.T, err error) (int, string) {
	t.Helper()
	var refused *identity.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("%v: want a refusal", err)
	}
	return refused.HTTPStatus(), refused.Error()
}

var made = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(made)}}
}

// TestWhoMayReadWhat: all, one namespace from its creation on, none; a refusal names the right that is missing.
func TestWhoMayReadWhat(t *testing.T) {
	c := newCluster(namespace("prod"))
	for _, right := range []string{"admin/", "ann/prod", "ann/gone"} {
		c.may[right] = true
	}
	id := identity.New(identity.Config{Client: c, Logger: slog.New(slog.DiscardHandler)})
	for _, row := range []struct {
		user, namespace string
		want            identity.Right
		refused         string
	}{
		{"admin", "", identity.Right{All: true}, ""},
		{"admin", "gone", identity.Right{All: true}, ""},
		{"ann", "prod", identity.Right{Namespace: "prod", Since: made}, ""},
		{"ann", "web", identity.Right{}, `user "ann" may not list jobs (batch) in namespace web`},
		{"ann", "", identity.Right{}, `user "ann" may not list jobs (batch) in all namespaces: name a namespace`},
		{"ann", "gone", identity.Right{}, `user "ann" may not list jobs (batch) in all namespaces: that takes a`},
		{"bob", "prod", identity.Right{}, `user "bob" may not list jobs (batch) in namespace prod`},
	} {
		u, err := id.User(request(t, "Authorization", "bearer  "+row.user))
		if err != nil || u.Name != row.user {
			t.Fatalf("the token of %s is that of %q, %v", row.user, u.Name, err)
		}
		got, err := id.MayRead(t.Context(), u, row.namespace)
		if row.refused == "" {
			if err != nil || got.All != row.want.All || got.Namespace != row.want.Namespace || !got.Since.Equal(row.want.Since) {
				t.Errorf("%s in %q: %+v, %v, want %+v", row.user, row.namespace, got, err, row.want)
			}
			continue
		}
		if status, says := refusal(t, err); status != http.StatusForbidden || !strings.HasPrefix(says, row.refused) ||
			got != (identity.Right{}) {
			t.Errorf("%s in %q: %d %q, want %q", row.user, row.namespace, status, says, row.refused)
		}
	}
}

// TestNobodyGetsIn: without an identity, with headers of proxies, with a token that is revoked, and while the API server
// is away. A token that was good is believed for 10 s.
func TestNobodyGetsIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.revoked["old"] = true
		id := identity.New(identity.Config{Client: c, Logger: slog.New(slog.DiscardHandler)})
		for _, row := range []struct{ header, value string }{
			{"", ""}, {"X-Remote-User", "admin"}, {"X-Forwarded-User", "admin"}, {"Impersonate-User", "admin"},
			{"Authorization", "Basic YTpi"}, {"Authorization", "Bearer "}, {"Authorization", "Bearer old"},
		} {
			if status, _ := refusal(t, second(id.User(request(t, row.header, row.value)))); status != http.StatusUnauthorized {
				t.Errorf("%s: %s: status %d", row.header, row.value, status)
			}
		}
		ann := request(t, "Authorization", "Bearer ann")
		if _, err := id.User(ann); err != nil {
			t.Fatal(err)
		}
		c.revoked["ann"] = true
		before := c.reviews
		if _, err := id.User(ann); err != nil || c.reviews != before {
			t.Errorf("the token was asked about again at once: %d times, %v", c.reviews-before, err)
		}
		time.Sleep(10 * time.Second)
		if status, _ := refusal(t, second(id.User(ann))); status != http.StatusUnauthorized {
			t.Errorf("a token that was revoked 10 s ago: status %d", status)
		}
		c.away = true
		if status, _ := refusal(t, second(id.User(request(t, "Authorization",
			"Bearer eve")))); status != http.StatusServiceUnavailable {
			t.Errorf("while the API server is away: status %d", status)
		}
	})
}

func second(_ identity.User, err error) error { return err }

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: made, NotAfter: made.AddDate(100, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key}
}

func (a authority) client(t *testing.T, name string, usage x509.ExtKeyUsage, until time.Time) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name, Organization: []string{"dev"}}, NotBefore: made,
		NotAfter:    until,
		ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// TestAClientCertificateOfTheCluster: its common name is the user. Those of another CA, that are over, or for servers
// are nobody's.
func TestAClientCertificateOfTheCluster(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.cert.Raw}))
	c := newCluster(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "extension-apiserver-authentication"},
		Data:       map[string]string{"client-ca-file": ca},
	})
	far, over := made.AddDate(99, 0, 0), made.AddDate(0, 0, 1)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(made.AddDate(1, 0, 0)))
		id := identity.New(identity.Config{Client: c, Logger: slog.New(slog.DiscardHandler)})
		with := func(cert *x509.Certificate) *http.Request {
			r := request(t, "", "")
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
			return r
		}
		good := with(ours.client(t, "ann", x509.ExtKeyUsageClientAuth, far))
		if status, _ := refusal(t, second(id.User(good))); status != http.StatusServiceUnavailable {
			t.Errorf("before the CA is known: status %d", status)
		}
		go id.Run(t.Context())
		synctest.Wait()
		u, err := id.User(good)
		if err != nil || u.Name != "ann" || strings.Join(u.Groups, " ") != "dev system:authenticated" {
			t.Errorf("the certificate of ann is that of %q in %v, %v", u.Name, u.Groups, err)
		}
		for what, cert := range map[string]*x509.Certificate{
			"of another CA": other.client(t, "ann", x509.ExtKeyUsageClientAuth, far), "that is over": ours.client(t, "ann",
				x509.ExtKeyUsageClientAuth, over),
			"of a server": ours.client(t, "ann", x509.ExtKeyUsageServerAuth, far), "without a name": ours.client(t, "",
				x509.ExtKeyUsageClientAuth, far),
		} {
			if status, _ := refusal(t, second(id.User(with(cert)))); status != http.StatusUnauthorized {
				t.Errorf("a certificate %s: status %d", what, status)
			}
		}
	})
}
