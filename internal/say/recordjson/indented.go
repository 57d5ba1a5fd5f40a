package recordjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Indented returns v as indented JSON. It escapes invisible characters, which could control a terminal.
func Indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return VisibleJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
