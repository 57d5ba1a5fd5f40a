package recordjson

import (
	"bytes"
	"encoding/json"
)

// WithDamage adds damage, errors that reading the log met, to an indented JSON object. It becomes the last field:
// "damage": ["log is corrupt at record 41 …"]. Other JSON, and an object without damage, are returned unchanged.
func WithDamage(object []byte, damage []error) []byte {
	before, is := bytes.CutSuffix(object, []byte("\n}"))
	if len(damage) == 0 || !is {
		return object
	}
	texts := make([]string, len(damage))
	for i, err := range damage {
		texts[i] = err.Error()
	}
	list, _ := json.MarshalIndent(texts, "  ", "  ") // strings always have a JSON form, so there is no error
	out := append(bytes.Clone(before), ",\n  \"damage\": "...)
	return append(append(out, VisibleJSON(list)...), "\n}"...)
}
