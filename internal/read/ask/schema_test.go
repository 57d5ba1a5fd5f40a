package ask_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

var update = flag.Bool("update", false, "write docs/schema")

const schemas = "../../../docs/schema"

// TestSchemas: docs/schema has the schema of each question's answer, and no other.
func TestSchemas(t *testing.T) {
	for _, q := range ask.All() {
		path := filepath.Join(schemas, q.Name+".json")
		text := schemaOf(t, &q)
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if published, err := os.ReadFile(path); err != nil || !bytes.Equal(published, text) {
			t.Errorf("%s is not the schema of the answer (%v): run 'go test ./internal/read/ask -update', and see that fields were only added", path, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(schemas, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, is := ask.Named(strings.TrimSuffix(filepath.Base(file), ".json")); !is {
			t.Errorf("%s is the schema of no question", file)
		}
	}
}

// schemaOf is the schema of a question's answer, as it is published.
func schemaOf(t *testing.T, q *ask.Entry) []byte {
	t.Helper()
	options := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[recordjson.Instant](): {Type: "string", Format: "date-time"},
		reflect.TypeFor[json.RawMessage]():    {Description: "JSON of a record, or of a part of one"},
	}}
	of := func(typ reflect.Type) *jsonschema.Schema {
		schema, err := jsonschema.ForType(typ, options)
		if err != nil {
			t.Fatalf("%s: %v", q.Name, err)
		}
		return schema
	}
	var schema *jsonschema.Schema
	if q.Answer == reflect.TypeFor[ask.State]() { // its JSON is that of the object
		schema = &jsonschema.Schema{OneOf: []*jsonschema.Schema{of(reflect.TypeFor[history.Job]()), of(reflect.TypeFor[history.CronJob]())}}
	} else {
		schema = of(q.Answer)
	}
	extensible(schema)
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "What 'jobledger " + strings.Join(q.Command, " ") + " -o json' writes. Fields are only ever added."
	if q.Name == ask.Events.Entry().Name {
		schema.Title = "What GET /v1/events answers. 'jobledger events -o json' writes the records, one on each line. " +
			"Fields are only ever added."
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
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
	for _, p := range s.OneOf {
		extensible(p)
	}
	extensible(s.Items)
}
