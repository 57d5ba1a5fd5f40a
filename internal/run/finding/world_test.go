package finding

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/jobledger/jobledger/internal/dev/forwarding"
	"github.com/jobledger/jobledger/internal/wire/httpport"
)

// world is an API server with a kubelet behind it, and a reader that answers with what it was sent.
type world struct {
	t      *testing.T
	api    *httptest.Server
	reader *pretended

	mu      sync.Mutex
	data    map[string]string // of the ConfigMap; nil for none
	pods    map[string]corev1.PodPhase
	refused map[string]int // status by the last part of a path
	opened  int            // port-forwards
}

// pretended is a process with TLS that records the credentials that arrive.
type pretended struct {
	port      int
	authority []byte
	close     func()

	mu   sync.Mutex
	seen []string // tokens, and names of client certificates; "" for none
}

// pretend starts a process with a certificate of its own CA.
func (w *world) pretend(hosts ...string) *pretended {
	w.t.Helper()
	own, err := httpport.Made(hosts)
	if err != nil {
		w.t.Fatal(err)
	}
	p := &pretended{authority: own.Authority}
	own.TLS.ClientAuth = tls.RequestClientCert
	listener, err := tls.Listen("tcp", "127.0.0.1:0", own.TLS)
	if err != nil {
		w.t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	p.port, _ = strconv.Atoi(port)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if who == "" && len(r.TLS.PeerCertificates) > 0 {
			who = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		p.mu.Lock()
		p.seen = append(p.seen, who)
		p.mu.Unlock()
		_, _ = rw.Write([]byte(who + " at " + r.URL.Path))
	})}
	go func() { _ = server.Serve(listener) }() // ends with Close
	p.close = func() { _ = server.Close() }
	w.t.Cleanup(p.close)
	return p
}

func (p *pretended) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

// newWorld has a reader in pod-1 that has published how it is reached.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, refused: map[string]int{}, pods: map[string]corev1.PodPhase{"pod-1": corev1.PodRunning}}
	w.reader = w.pretend("jobledger-reader.jobledger-reader.svc")
	w.publish("pod-1", w.reader)
	w.api = httptest.NewTLSServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.api.Close)
	return w
}

func (w *world) publish(pod string, p *pretended) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := Entry{CA: string(p.authority), Pod: pod, Port: p.port, Since: time.Now()}
	w.data = e.published()
	w.data[keyService] = "jobledger-reader"
}

// set changes the world.
func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// status answers as an API server with an error.
func status(rw http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	})
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // api v1 namespaces NAMESPACE KIND NAME SUBRESOURCE
	w.mu.Lock()
	code, data, phase := w.refused[parts[len(parts)-1]], w.data, w.pods[parts[min(5, len(parts)-1)]]
	w.mu.Unlock()
	if code != 0 {
		status(rw, code, map[int]metav1.StatusReason{403: metav1.StatusReasonForbidden, 401: metav1.StatusReasonUnauthorized}[code],
			"ann is refused")
		return
	}
	switch {
	case parts[4] == "configmaps" && data != nil && parts[3] == Namespace:
		w.answer(rw, &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, Data: data})
	case len(parts) == 6 && parts[4] == "pods" && phase != "":
		w.answer(rw, &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, Status: corev1.PodStatus{Phase: phase}})
	case parts[len(parts)-1] == "portforward" && r.Method == http.MethodPost:
		w.set(func() { w.opened++ })
		forwarding.Serve(rw, r, func(port string) (net.Conn, error) { return net.Dial("tcp", "127.0.0.1:"+port) })
	default:
		status(rw, http.StatusNotFound, metav1.StatusReasonNotFound, r.URL.Path+" is not there")
	}
}

func (w *world) answer(rw http.ResponseWriter, object any) {
	rw.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(rw).Encode(object); err != nil {
		w.t.Error(err)
	}
}

// kubeconfig is that of a user of the API server.
func (w *world) kubeconfig(user *clientcmdapi.AuthInfo) clientcmd.ClientConfig {
	config := clientcmdapi.NewConfig()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.api.Certificate().Raw})
	config.Clusters["here"] = &clientcmdapi.Cluster{Server: w.api.URL, CertificateAuthorityData: ca}
	config.AuthInfos["me"] = user
	config.Contexts["here"] = &clientcmdapi.Context{Cluster: "here", AuthInfo: "me"}
	config.CurrentContext = "here"
	return clientcmd.NewDefaultClientConfig(*config, &clientcmd.ConfigOverrides{})
}

// certificate is a client certificate of that name.
func certificate(t *testing.T, name string) *clientcmdapi.AuthInfo {
	t.Helper()
	own, err := httpport.Made([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := own.TLS.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return &clientcmdapi.AuthInfo{
		ClientCertificateData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		ClientKeyData:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}
}
