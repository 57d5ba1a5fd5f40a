package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/store/copylog/copylogtest"
)

// bucket starts a server with a bucket, until the script ends, and says in the environment where it is: bucket NAME.
func bucket(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: bucket NAME")
	}
	ts.Setenv("AWS_ENDPOINT_URL", copylogtest.Server(failing{ts: ts}, args[0]))
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		ts.Setenv(name, copylogtest.Keys(name))
	}
}
