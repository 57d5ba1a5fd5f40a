package controller

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// O-023: on the connection of those who act nothing goes out while they may not; the others' goes on, and so does
// theirs when they may again.
func TestNothingIsSentByWhoMayNotAct(t *testing.T) {
	var came atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`))
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL, InsecureSkipTLSVerify: true}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "x"
	cluster, err := Connect(clientcmd.NewDefaultClientConfig(*config, nil), "test")
	if err != nil {
		t.Fatal(err)
	}
	var may atomic.Bool
	acting, err := cluster.Acting(may.Load)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(client kubernetes.Interface) error {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		return err
	}
	for _, step := range []struct {
		sentence  string
		may, acts bool
	}{
		{"who may not act yet is not heard", false, false},
		{"who may is", true, true},
		{"who may no more is not, on a connection that stands", false, false},
		{"who may again is, on another one", true, true},
	} {
		may.Store(step.may)
		before := came.Load()
		err := ask(acting)
		if acts := err == nil; acts != step.acts || came.Load() > before != step.acts {
			t.Errorf("%s: %v, and %d requests came", step.sentence, err, came.Load()-before)
		}
		if err := ask(cluster.Client); err != nil {
			t.Errorf("%s: another client's request says %v", step.sentence, err)
		}
	}
}
