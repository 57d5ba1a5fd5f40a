//go:build linux

package installed

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jobledger/jobledger/test/node"
)

// TestProbes: by the chart's probes the kubelet learns whether the controller lives and is ready, in plain HTTP and by
// TLS. It restarts a controller that hangs, and the new process goes on.
func TestProbes(t *testing.T) {
	node.Need(t)
	t.Run("plain", func(t *testing.T) {
		r := newRelease(t, "plain")
		r.install("")
		r.ready()
		r.probed("HTTP")
		if out, err := r.port("https"); err == nil || !strings.Contains(out, "first record does not look like a TLS handshake") {
			t.Errorf("by TLS the port says %s, %v", out, err)
		}
		r.hangs()
	})
	t.Run("TLS", func(t *testing.T) {
		r := newRelease(t, "tls")
		first := newCertificate(t, 1)
		sh(t, first.secret(r.name))
		r.install("metrics: {tlsSecret: port, authorize: true}\n")
		r.ready()
		r.probed("HTTPS")
		if out, err := r.port("http"); err == nil { // Go's library answers, with code 400
			t.Errorf("without TLS the port says %s", out)
		}
		r.authorizes(first)
		r.renews(newCertificate(t, 2))
		r.hangs()
	})
}

// port asks the port, through the API server, whether the controller is ready.
func (r *release) port(scheme string) (string, error) {
	r.t.Helper()
	return try(r.t, fmt.Sprintf("kubectl get --raw /api/v1/namespaces/%s/pods/%s:%s:10272/proxy/readyz", r.name, scheme, r.pod()))
}

// probed waits until both probes of the kubelet have succeeded, and checks their scheme.
func (r *release) probed(scheme string) {
	r.t.Helper()
	for _, probe := range []string{"livenessProbe", "readinessProbe"} {
		if got := r.get(".spec.containers[0]." + probe + ".httpGet.scheme"); got != scheme {
			r.t.Errorf("the %s asks by %s, want %s", probe, got, scheme)
		}
	}
	for _, kind := range []string{"Liveness", "Readiness"} {
		asked := regexp.MustCompile(`(?m)^prober_probe_total\{.*container="jobledger",namespace="` + r.name +
			`".*probe_type="` + kind + `",result="successful"\} [1-9]`)
		eventually(r.t, "the kubelet has asked for its "+kind, func() (bool, error) {
			out, err := run(r.t.Context(), nil, "kubectl get --raw /api/v1/nodes/"+node.Name+"/proxy/metrics/probes")
			return err == nil && asked.MatchString(out), nil
		})
	}
	if out, err := r.port(strings.ToLower(scheme)); err != nil || strings.TrimSpace(out) != "ok" {
		r.t.Errorf("by %s the port says %s, %v", scheme, out, err)
	}
}

// hangs stops the process, as a hanging disk would. The kubelet marks the pod as not ready and finally kills the
// process. The next one goes on with the running Job.
func (r *release) hangs() {
	r.t.Helper()
	sh(r.t, `sed 's/name: plain/name: hung/; s/sleep 0.5/sleep 5/' examples/plain.yaml | kubectl apply -f -`)
	sh(r.t, "kubectl wait --for=jsonpath={.status.ready}=1 job/hung --timeout=120s")
	dir, err := processOf("/jobledger")
	if err != nil {
		r.t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscanf(dir, "/proc/%d", &pid); err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		r.t.Fatal(err)
	}
	in := "kubectl -n " + r.name + " "
	sh(r.t, in+"wait --for=condition=Ready=false pod/"+r.pod()+" --timeout=180s")
	eventually(r.t, "the kubelet starts the container again", func() (bool, error) { return r.restarts() == "1", nil })
	r.ready()
	events := sh(r.t, in+"get events --field-selector involvedObject.name="+r.pod())
	for _, want := range []string{"Readiness probe failed", "Liveness probe failed", "failed liveness probe, will be restarted"} {
		if !strings.Contains(events, want) {
			r.t.Errorf("the kubelet does not say %q but\n%s", want, events)
		}
	}
	sh(r.t, "kubectl wait --for=condition=complete job/hung --timeout=180s")
	if out := r.exec("explain job/hung --log /var/lib/jobledger/log"); !strings.Contains(out, "1 pod succeeded") {
		r.t.Errorf("explain says\n%s", out)
	}
	if out := r.exec("replay --log /var/lib/jobledger/log"); !strings.Contains(out, ", 0 divergences") {
		r.t.Errorf("replay says\n%s", out)
	}
	sh(r.t, "kubectl delete job hung --timeout=60s")
}

// authorizes: metrics need a token of a user with the right; probes need none.
func (r *release) authorizes(of *certificate) {
	r.t.Helper()
	for _, line := range []string{
		"kubectl -n tls create serviceaccount scraper", "kubectl -n tls create serviceaccount stranger",
		"kubectl create clusterrole scraper --verb=get --non-resource-url=/metrics",
		"kubectl create clusterrolebinding scraper --clusterrole=scraper --serviceaccount=tls:scraper",
	} {
		sh(r.t, line)
	}
	r.t.Cleanup(func() { lastly(r.t, "kubectl delete clusterrole,clusterrolebinding scraper") })
	token := func(name string) string { return strings.TrimSpace(sh(r.t, "kubectl -n tls create token "+name)) }
	for _, row := range []struct {
		path, token string
		want        int
	}{
		{"/metrics", "", http.StatusUnauthorized}, {"/metrics", token("stranger"), http.StatusForbidden},
		{"/metrics", token("scraper"), http.StatusOK}, {"/readyz", "", http.StatusOK}, {"/livez", "", http.StatusOK},
	} {
		code, text, err := r.get443(of, row.path, row.token)
		if err != nil || code != row.want || strings.Contains(text, "jobledger_log_bytes") != (row.token != "" && row.want == http.StatusOK) {
			r.t.Errorf("%s, with a token: %t: code %d, want %d, %v\n%.200s", row.path, row.token != "", code, row.want, err, text)
		}
	}
}

// renews replaces the certificate. The port serves the new one once the kubelet has updated it; the process goes on.
func (r *release) renews(next *certificate) {
	r.t.Helper()
	sh(r.t, "kubectl -n tls delete secret port")
	sh(r.t, next.secret(r.name))
	eventually(r.t, "the port has the new certificate", func() (bool, error) {
		code, _, err := r.get443(next, "/readyz", "")
		return err == nil && code == http.StatusOK, nil
	})
	if n := r.restarts(); n != "0" || r.get(`.status.conditions[?(@.type=="Ready")].status`) != "True" {
		r.t.Errorf("the container was started again %s times", n)
	}
}

// get443 sends a request to the port by TLS, and trusts one certificate.
func (r *release) get443(of *certificate, path, token string) (code int, text string, err error) {
	r.t.Helper()
	address, err := run(r.t.Context(), nil, fmt.Sprintf("kubectl -n %s get pod %s -o jsonpath='{.status.podIP}'", r.name, r.pod()))
	if err != nil {
		return 0, "", err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(of.cert)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: certifiedName}, DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "https://"+address+":10272"+path, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all), err
}

// certificate is a self-signed certificate for the port.
type certificate struct {
	cert, key         []byte
	certFile, keyFile string
}

// certifiedName is the name in the certificate. It is no address, because a kubelet does not verify it.
const certifiedName = "jobledger.test"

func newCertificate(t *testing.T, serial int64) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: certifiedName}, DNSNames: []string{certifiedName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := &certificate{certFile: filepath.Join(t.TempDir(), "tls.crt"), keyFile: filepath.Join(t.TempDir(), "tls.key")}
	c.cert, c.key = inPEM("CERTIFICATE", der), inPEM("PRIVATE KEY", private)
	for file, text := range map[string][]byte{c.certFile: c.cert, c.keyFile: c.key} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func inPEM(kind string, der []byte) []byte {
	var b bytes.Buffer
	_ = pem.Encode(&b, &pem.Block{Type: kind, Bytes: der}) // a buffer returns no errors
	return b.Bytes()
}

// secret returns the command that stores the certificate in a namespace.
func (c *certificate) secret(namespace string) string {
	return "kubectl -n " + namespace + " create secret tls port --cert=" + c.certFile + " --key=" + c.keyFile
}
