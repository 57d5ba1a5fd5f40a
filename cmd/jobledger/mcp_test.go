package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/jobledger/jobledger/examples/incidents"
)

// TestAClientSpeaksToTheProgram: a client of the protocol's own library starts the program, lists its tools, asks, and
// leaves; the program ends with it.
func TestAClientSpeaksToTheProgram(t *testing.T) {
	dir := t.TempDir()
	if err := incidents.Write("delegated", dir); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("jobledger") // testscript puts it there
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "mcp", "--log", dir)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 7 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for range 2 { // each call opens the log for itself
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "explain", Arguments: map[string]any{"object": "crash-loop/crashloop"},
		})
		if err != nil || r.IsError {
			t.Fatalf("%+v, %v", r, err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if !strings.Contains(text, "- VERDICT «FAILED after 7 s: container main restarted 3 times") {
			t.Errorf("explain says:\n%s", text)
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if !cmd.ProcessState.Success() {
		t.Errorf("the program ended with %v", cmd.ProcessState)
	}
}
