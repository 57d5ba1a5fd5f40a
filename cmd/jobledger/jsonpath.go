package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"

	"github.com/jobledger/jobledger/internal/say/words"
)

// checkTemplate refuses what is no JSONPath template.
func checkTemplate(flag, text string) error {
	if err := jsonpath.New("").Parse(text); err != nil {
		return usage("%s: %v", flag, err)
	}
	return nil
}

// executeTemplate writes what a JSONPath template gives of a value. A field that is not there gives nothing, as with kubectl.
func executeTemplate(out io.Writer, text string, v any) error {
	tree, err := fields(v)
	if err != nil {
		return err
	}
	path := jsonpath.New("").AllowMissingKeys(true)
	if err := path.Parse(text); err != nil {
		return fmt.Errorf("-o jsonpath: %w", err)
	}
	if err := path.Execute(out, tree); err != nil {
		return fmt.Errorf("-o jsonpath: %w", err)
	}
	return nil
}

// fields is a value as its JSON has it, whose texts are safe to print.
func fields(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := utiljson.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	return cleaned(tree), nil
}

func cleaned(tree any) any {
	switch t := tree.(type) {
	case string:
		return words.Clean(t)
	case []any:
		for i := range t {
			t[i] = cleaned(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = cleaned(t[k])
		}
	}
	return tree
}

// fieldOf finds the value at a path in a tree; nil when it is not there.
func fieldOf(tree any, path string, missing bool) (any, error) {
	p := jsonpath.New("").AllowMissingKeys(missing)
	if err := p.Parse(path); err != nil {
		return nil, err
	}
	results, err := p.FindResults(tree)
	if err != nil {
		return nil, err
	}
	for _, some := range results {
		for _, v := range some {
			if v.IsValid() && v.Kind() == reflect.Interface {
				v = v.Elem()
			}
			if v.IsValid() {
				return v.Interface(), nil
			}
		}
	}
	return nil, nil
}

// braced writes a path as JSONPath wants it, however much of that the user left out: name, .name, {.name}.
func braced(path string) string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	return "{." + strings.TrimPrefix(path, ".") + "}"
}
