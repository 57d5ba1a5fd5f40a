package recordjson

import (
	"bytes"
	"encoding/json"
)

// WithDamage adds the damage of the log behind an answer to an indented JSON object, as its last field: {…, "damage":
// ["log is corrupt at record 41 …"]}. It returns other JSON, and an object without damage, unchanged.
func WithDamage(object []byte, damage []error) []byte {
	before, is := bytes.CutSuffix(object, []byte("\n}"))
	if len(damage) == 0 || !is {
		return object
	}
	texts := make([]string, len(damage))
	for i, err := range damage {
		texts[i] = err.Error()
	}
	list, _ := json.MarshalIndent(texts, "  ", "  ") // strings cannot fail
	out := append(bytes.Clone(before), ",\n  \"damage\": "...)
	return append(append(out, VisibleJSON(list)...), "\n}"...)
}
