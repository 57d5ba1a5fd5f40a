package differs

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestValuesOfTemplates: as they are shown, and their paths.
func TestValuesOfTemplates(t *testing.T) {
	whentest.Texts(t, [][2]string{
		{valueText(nil), ""}, {valueText("x"), "x"}, {valueText(3.0), "3"}, {valueText([]any{"a"}), `["a"]`},
		{join("", "a"), "a"}, {join("a", "b"), "a.b"},
	})
}

// TestInWhatTemplatesDiffer: fields by their paths, containers by their names, and hidden variables by theirs.
func TestInWhatTemplatesDiffer(t *testing.T) {
	const image = `{"spec":{"containers":[{"name":"main","image":"a:1"}]}}`
	for _, row := range []struct{ old, now, want string }{
		{image, image, ""},
		{"", image, ""},
		{image, "[]", ""},
		{image, `{"spec":{"containers":[{"name":"main","image":"a:2"}]}}`, "main.image a:1 → a:2"},
		{image, `{"spec":{"containers":[{"name":"main","image":"a:1"},{"name":"side","image":"b"}]}}`,
			`side + {"image":"b"}`},
		{image, `{"spec":{}}`, `main - {"image":"a:1"}`},
		{`{"spec":{}}`, image, `main + {"image":"a:1"}`},
		{image, `{"spec":{"containers":[]}}`, `containers [{"image":"a:1","name":"main"}] → []`},
		{image, `{"spec":{"containers":["main"]}}`, `containers [{"image":"a:1","name":"main"}] → ["main"]`},
		{`{"spec":{"containers":["main"]}}`, image, `containers ["main"] → [{"image":"a:1","name":"main"}]`},
		{`{"spec":{"x":[{"name":3}]}}`, `{"spec":{"x":[{"name":4}]}}`, `x [{"name":3}] → [{"name":4}]`},
		{`{"spec":{"priority":1}}`, `{"spec":{"priority":2,"zone":"b"}}`, "priority 1 → 2 · zone + b"},
		{`{"spec":{"priority":{"a":1}}}`, `{"spec":{"priority":2}}`, `priority {"a":1} → 2`},
		{`{"a":"x"}`, `{"b":"x"}`, "a - x · b + x"},
		{`{"spec":{"containers":[{"name":"main","env":[{"name":"DB","value":"(redacted)"}]}]}}`,
			`{"spec":{"containers":[{"name":"main","env":[{"name":"HOST","value":"(redacted)"}]}]}}`,
			"main.env + HOST · main.env - DB"},
	} {
		got := explain.Joined(Templates([]byte(row.old), []byte(row.now)), " · ")
		if text := got.Whole; text != row.want {
			t.Errorf("%s and %s: %q, want %q", row.old, row.now, text, row.want)
		}
	}
	if spec := (&events.JobSpec{Key: "k", Template: "t"}); Specs(nil, spec) != nil || Specs(spec, nil) != nil {
		t.Error("a spec that is not known differs")
	}
}
