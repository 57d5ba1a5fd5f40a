package controlplane

import (
	"strings"
	"testing"

	"time"
)

func TestReadAuditLeavesAnUnfinishedLine(t *testing.T) {
	const log = `{"kind":"Event","verb":"create","user":{"username":"jobledger"},"objectRef":{"resource":"pods","namespace":"a"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z"}
{"kind":"Event","auditID":"7","verb":"update","user":{"username":"admin"},"impersonatedUser":{"username":"other"},"objectRef":{"resource":"jobs","subresource":"status","namespace":"a","name":"demo","uid":"u","resourceVersion":"5"},"responseStatus":{"code":409},"requestObject":{"kind":"Job"}}
{"kind":"Event","verb":"del`
	got, size, err := readAudit(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	want := []Write{
		{User: "jobledger", Verb: "create", Resource: "pods", Namespace: "a", Code: 201, At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)},
		{
			ID: "7", User: "other", Verb: "update", Resource: "jobs/status", Namespace: "a", Name: "demo", UID: "u", Version: "5",
			Body: `{"kind":"Job"}`, Code: 409,
		},
	}
	if unfinished := log[size:]; unfinished != `{"kind":"Event","verb":"del` {
		t.Errorf("the next reading begins with %q", unfinished)
	}
	if len(got) != len(want) {
		t.Fatalf("readAudit returned %d writes, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("write %d = %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestReadAuditNamesTheLineItCannotRead(t *testing.T) {
	_, _, err := readAudit(strings.NewReader("{}\n{\"verb\":\n"))
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Fatalf("readAudit = %v, want an error about line 2", err)
	}
}
