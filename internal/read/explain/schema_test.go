package explain_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

var update = flag.Bool("update", false, "write the schema and the golden texts")

const schemaFile = "../../../docs/schema/explain.json"

// TestAnswersFollowTheSchema: docs/schema/explain.json is what Answer is, and every answer about the recorded incidents
// follows it.
func TestAnswersFollowTheSchema(t *testing.T) {
	instant := &jsonschema.Schema{Type: "string", Format: "date-time"}
	schema, err := jsonschema.For[explain.Answer](&jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[recordjson.Instant](): instant},
	})
	if err != nil {
		t.Fatal(err)
	}
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "What 'jobledger explain -o json' writes. Fields are only ever added."
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	extensible(schema)
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if published, err := os.ReadFile(schemaFile); err != nil || !bytes.Equal(published, text) {
		t.Errorf("docs/schema/explain.json is not the schema of Answer (%v): run 'go test ./internal/read/explain -update', and see that fields were only added", err)
	}
	for _, dir := range logs(t) {
		src := openRecorded(t, dir)
		for _, s := range src.jobs() {
			c, err := job.Read(t.Context(), src, s, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			answer := c.Answer()
			written, err := json.Marshal(&answer)
			if err != nil {
				t.Fatal(err)
			}
			var read any
			if err := json.Unmarshal(written, &read); err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(read); err != nil {
				t.Errorf("%s/%s: %v", answer.Namespace, answer.Name, err)
			}
		}
	}
}

// extensible lets a schema allow fields that it does not know: a later program may write more.
func extensible(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" || slices.Contains(s.Types, "object") {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		extensible(p)
	}
	extensible(s.Items)
}
