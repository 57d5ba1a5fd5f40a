package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"

	"github.com/rogpeppe/go-internal/testscript"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// startTriggerAPI serves the requests of a trigger: triggerapi KUBECONFIG CRONJOB LEASE PATCH. The Lease was renewed
// just now. A PATCH is accepted, and written to its file; the user is alice.
func startTriggerAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: triggerapi KUBECONFIG CRONJOB LEASE PATCH")
	}
	var cronJob batchv1.CronJob
	ts.Check(yaml.UnmarshalStrict([]byte(ts.ReadFile(args[1])), &cronJob))
	var lease coordinationv1.Lease
	ts.Check(yaml.UnmarshalStrict([]byte(ts.ReadFile(args[2])), &lease))
	lease.Spec.RenewTime = new(metav1.NowMicro())
	written := ts.MkAbs(args[3])
	served := map[string]any{
		path.Join("/apis/batch/v1/namespaces", cronJob.Namespace, "cronjobs", cronJob.Name):         &cronJob,
		path.Join("/apis/coordination.k8s.io/v1/namespaces", lease.Namespace, "leases", lease.Name): &lease,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		object := served[r.URL.Path]
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/apis/authentication.k8s.io/v1/selfsubjectreviews":
			_, _ = io.WriteString(w, `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview","status":{"userInfo":{"username":"alice"}}}`)
			return
		case object == nil:
			w.WriteHeader(http.StatusNotFound)
			object = metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound,
				Code: http.StatusNotFound, Message: path.Base(r.URL.Path) + " not found",
			}
		case r.Method == http.MethodPatch:
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = os.WriteFile(written, fmt.Appendf(nil, "PATCH %s %s %s\n", r.URL, r.Header.Get("Content-Type"), body), 0o600)
			}
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
		case r.Method != http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		_ = json.NewEncoder(w).Encode(object)
	}))
	ts.Defer(server.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), openKubeconfig(server.URL), 0o600))
}
