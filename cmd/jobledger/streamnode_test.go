package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// nodeModules installs the packages of the example for Node, once, and returns the directory. The test is skipped
// without Node, and, except in CI, without a registry of its packages.
func nodeModules(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: the subscriber for Node is not tried", program)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "subscribe.mjs"} {
		text, err := os.ReadFile(filepath.Join("../../examples/subscriber-node", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline",
		"--fetch-timeout=60000", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000") // milliseconds
	install.Dir, install.WaitDelay = dir, 10*time.Second
	out, err := install.CombinedOutput()
	switch {
	case err != nil && os.Getenv("CI") == "" && (ctx.Err() != nil || unreachable.Match(out)):
		t.Skipf("npm install does not reach its registry: the subscriber for Node is not tried: %v\n%s", err, out)
	case err != nil:
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	return dir
}

// unreachable matches npm's errors about the network or its registry. Work on this repository needs neither.
var unreachable = regexp.MustCompile(`npm (error|ERR!) code (E(NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|SOCKETTIMEDOUT|NETUNREACH|HOSTUNREACH|429|5\d\d)|ERR_SOCKET_TIMEOUT)\b`)

// TestNode: a program in another language needs only the .proto files of ours, as docs/stream.md says.
func TestNode(t *testing.T) {
	dir := nodeModules(t)
	protos, err := filepath.Abs("../../proto")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "short.mjs"), []byte(docBlock(t, "js")), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/node", RequireExplicitExec: true, UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"makelog": makelog, "streamlog": streamlog},
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLE", dir)
			e.Setenv("PROTO", protos)
			return ownState(e)
		},
	})
}

// docBlock is the only block of code of that language in docs/stream.md.
func docBlock(t *testing.T, language string) string {
	t.Helper()
	blocks := docBlocks(t, language)
	if len(blocks) != 1 {
		t.Fatalf("docs/stream.md has %d blocks of %s, want 1", len(blocks), language)
	}
	return blocks[0]
}

func docBlocks(t *testing.T, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/stream.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(text), "\n```") {
		if rest, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			all = append(all, rest+"\n")
		}
	}
	return all
}
