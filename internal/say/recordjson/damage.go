package recordjson

import (
	"bytes"
	"encoding/json"
)

// WithDamage adds to an indented JSON object the damage of the log that was met on the way to it, as its last field:
// {…, "damage": ["log is corrupt at record 41 …"]}. What is no object stays as it is.
func WithDamage(object []byte, damage []error) []byte {
	before, is := bytes.CutSuffix(object, []byte("\n}"))
	if len(damage) == 0 || !is {
		return object
	}
	texts := make([]string, len(damage))
	for i, err := range damage {
		texts[i] = err.Error()
	}
	list, _ := json.MarshalIndent(texts, "  ", "  ") // texts cannot fail
	out := append(bytes.Clone(before), ",\n  \"damage\": "...)
	return append(append(out, VisibleJSON(list)...), "\n}"...)
}
