package main

import (
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// startDeniedAPI serves an API server that allows nothing: deniedapi KUBECONFIG.
func startDeniedAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: deniedapi KUBECONFIG")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			answer(w, map[string]string{"gitVersion": "v1.36.3"})
			return
		}
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "this is forbidden: User \"a\" cannot do it", nil)
	}))
	ts.Defer(server.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), openKubeconfig(server.URL), 0o600))
}
