package serve_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// holed is a log in which names may stand in a damaged file.
type holed struct{ store.Reader }

var hole = &store.CorruptError{Path: "00041.db", At: 41, Next: 80, Cause: errors.New("a page of zeros")}

func (h holed) Find(namespace, name string) ([]events.Stream, error) {
	streams, _ := h.Reader.Find(namespace, name)
	return append(streams, events.JobStream("a")), hole
}

// TestAnAnswerBesideDamageSaysSo: who asks through the port gets what can be read, with the place of the damage, as
// from the directory.
func TestAnAnswerBesideDamageSaysSo(t *testing.T) {
	log := holed{memlog.New(events.Identity{LogID: "l", Epoch: 1})}
	known := &store.CorruptError{Path: "dir", At: 1, Cause: errors.New("records before 9 are missing")}
	server := httptest.NewServer(serve.Handler(serve.Config{Log: log, Damage: func() []error { return []error{known} }}))
	defer server.Close()
	client, err := serve.NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client.Damage = &store.Damage{}
	streams, err := history.FindJobs(t.Context(), client, "default", "demo")
	var bad *store.CorruptError
	if len(streams) != 1 || !client.Beside(err) || !errors.As(err, &bad) {
		t.Fatalf("found %v, %v", streams, err)
	}
	var places []store.CorruptError
	for _, err := range client.Damage.Met() {
		if errors.As(err, &bad) {
			places = append(places, store.CorruptError{Path: bad.Path, At: bad.At, Next: bad.Next})
		}
	}
	if len(places) != 2 || places[0] != (store.CorruptError{Path: "dir", At: 1}) || places[1] != (store.CorruptError{Path: "00041.db", At: 41, Next: 80}) {
		t.Errorf("the client heard of %+v", places)
	}
	for path, says := range map[string]string{"/v1/records": `{"damage":"log is corrupt at record 1`, "/v1/log": `"logID"`} {
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || !strings.Contains(string(text), says) || response.Body.Close() != nil {
			t.Errorf("%s says %s, %v", path, text, err)
		}
		for line := range strings.Lines(string(text)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: no JSON: %s", path, line)
			}
		}
	}
}
