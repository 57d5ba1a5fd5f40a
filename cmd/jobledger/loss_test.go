package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/boltlog"
)

// sealPod writes the objects of a cluster, which is a pod that the log with that key made in an epoch: sealpod LOG
// OBJECTS EPOCH; with "forged" behind it, the seal is that of another command.
func sealPod(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: sealpod LOG OBJECTS EPOCH [forged]")
	}
	key, err := boltlog.ReadKey(ts.MkAbs(args[0]))
	ts.Check(err)
	epoch, err := strconv.ParseUint(args[2], 10, 64)
	ts.Check(err)
	command := events.Identity{LogID: testLogID, Epoch: epoch}.CommandOf("0b0b", 7)
	seal := key.Seal("default", command)
	if len(args) > 3 {
		seal = key.Seal("default", "another")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), fmt.Appendf(nil, `apiVersion: v1
kind: Pod
metadata:
  name: stray
  namespace: default
  uid: 5d3b6b0e-0000-4000-8000-000000000001
  creationTimestamp: "2026-03-14T09:00:00Z"
  annotations:
    %s: %s
    %s: %s
`, events.CommandAnnotation, command, events.SealAnnotation, seal), 0o600))
}
