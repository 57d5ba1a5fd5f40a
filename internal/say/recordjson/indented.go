package recordjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Indented returns v as indented JSON. It escapes invisible characters, which could control a terminal.
func Indented(v any) ([]byte, error) {
	text, err := written(v, "  ")
	if err != nil {
		return nil, err
	}
	return VisibleJSON(text), nil
}

// Compact returns v as JSON on one line, for programs alone: characters need not be visible.
func Compact(v any) ([]byte, error) { return written(v, "") }

func written(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
