package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// poll asks until the answer is yes.
func poll(ts interface{ Fatalf(string, ...any) }, what string, ok func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience.Time())
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("waited for %s in vain", what)
		}
	}
}

// await waits until a file exists: await FILE.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	poll(ts, args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// awaitOutput runs a command until it prints what matches: awaitoutput REGEXP COMMAND….
func awaitOutput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: awaitoutput REGEXP COMMAND…")
	}
	want := regexp.MustCompile(args[0])
	poll(ts, args[0], func() bool {
		ts.Check(ts.Exec(args[1], args[2:]...))
		return want.MatchString(ts.ReadFile("stdout"))
	})
}

// probe asks the controller whose address is in a file: probe FILE PATH STATUS REGEXP.
func probe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: probe FILE PATH STATUS REGEXP")
	}
	if status, body, ok := answers(ts, args); !ok {
		ts.Fatalf("%s: status %d, want %s and %s\n%s", args[1], status, args[2], args[3], body)
	}
}

// awaitProbe asks until that is the answer: awaitprobe FILE PATH STATUS REGEXP.
func awaitProbe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: awaitprobe FILE PATH STATUS REGEXP")
	}
	poll(ts, args[1]+" to say "+args[3], func() bool {
		_, _, ok := answers(ts, args)
		return ok
	})
}

func answers(ts *testscript.TestScript, args []string) (status int, body []byte, ok bool) {
	resp, err := http.Get(strings.TrimSpace(ts.ReadFile(args[0])) + args[1])
	ts.Check(err)
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	ts.Check(err)
	return resp.StatusCode, body, strconv.Itoa(resp.StatusCode) == args[2] && regexp.MustCompile(args[3]).Match(body)
}
