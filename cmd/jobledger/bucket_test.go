package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/store/copylog/copylogtest"
)

// bucket starts a server with a bucket, until the script ends, and says in the environment where it is: bucket NAME, or
// bucket NAME unfenced for a server that knows no conditional writes.
func bucket(ts *testscript.TestScript, neg bool, args []string) {
	server := copylogtest.Server
	switch {
	case neg || len(args) == 0 || len(args) > 2 || len(args) == 2 && args[1] != "unfenced":
		ts.Fatalf("usage: bucket NAME [unfenced]")
	case len(args) == 2:
		server = copylogtest.Unfenced
	}
	ts.Setenv("AWS_ENDPOINT_URL", server(failing{ts: ts}, args[0]))
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		ts.Setenv(name, copylogtest.Keys(name))
	}
}
