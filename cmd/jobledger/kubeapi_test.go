package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/httpapi"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// startKubeAPI serves a cluster with the objects of a file: kubeapi KUBECONFIG OBJECTS WRITES. It writes the
// kubeconfig, and to WRITES a line for each request that is no read. Lists come in pages of two at most. Pods stay as
// they are given.
func startKubeAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: kubeapi KUBECONFIG OBJECTS WRITES")
	}
	writes, err := os.OpenFile(ts.MkAbs(args[2]), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	ts.Defer(func() { _ = writes.Close() }) // after the server, which is deferred later
	never := kubelet.Range{Min: 24 * time.Hour, Max: 24 * time.Hour}
	w := world.New(world.Config{Kubelet: kubelet.Config{Schedule: never}})
	// A script may show one log several clusters, as states of one. Versions grow from one to the next, so that none went
	// back.
	w.Server.Pass(uint64(time.Now().UnixMilli()))
	server := httpapi.New(httpapi.Config{World: w, MaxPage: 2, Writes: writes})
	ts.Defer(server.Close)
	ts.Check(server.Load([]byte(ts.ReadFile(args[1]))))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), openKubeconfig(server.URL), 0o600))
}

// startDeniedAPI serves a cluster that allows nothing, or all but one resource: deniedapi KUBECONFIG [RESOURCE].
func startDeniedAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: deniedapi KUBECONFIG [RESOURCE]")
	}
	config := httpapi.Config{World: world.New(world.Config{}), Forbid: len(args) == 1}
	if !config.Forbid {
		config.ForbidKind = apiserver.Kind(args[1])
	}
	server := httpapi.New(config)
	ts.Defer(server.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), openKubeconfig(server.URL), 0o600))
}

// startUnauthorizedAPI serves a cluster that accepts no credentials, as to one whose token has expired: unauthorizedapi
// KUBECONFIG.
func startUnauthorizedAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unauthorizedapi KUBECONFIG")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`)
	}))
	ts.Defer(server.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), openKubeconfig(server.URL), 0o600))
}

// openKubeconfig is a kubeconfig of an API server that asks nobody who they are.
func openKubeconfig(server string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: %q}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
users: [{name: a, user: {}}]
`, server)
}
