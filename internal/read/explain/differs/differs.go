package differs

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/words"
)

const MostDifferences = 4

// Specs returns a text for each field that differs between two specs of Jobs, without the pod template.
func Specs(old, now *events.JobSpec) []string {
	if old == nil || now == nil {
		return nil
	}
	return slices.DeleteFunc(words.SpecChanges(old, now), func(s string) bool { return s == "pod template edited" })
}

// Templates returns a text for each field that differs between two redacted pod templates (JSON without secrets),
// sorted.
func Templates(old, now []byte) []explain.Passage {
	var a, b map[string]any
	if json.Unmarshal(old, &a) != nil || json.Unmarshal(now, &b) != nil {
		return nil
	}
	var out []explain.Passage
	compare("", a, b, &out)
	slices.SortFunc(out, func(a, b explain.Passage) int { return cmp.Compare(a.Whole, b.Whole) })
	return out
}

// compare adds to out the differences of two JSON values: "image of main: a:1 → a:2". path names the field.
func compare(path string, a, b any, out *[]explain.Passage) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(merged(x, y))) {
				compare(join(path, k), x[k], y[k], out)
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok && named(x) && named(y) {
			compare(path, byName(x), byName(y), out)
			return
		}
	}
	if x, ok := a.([]any); ok && b == nil && named(x) {
		compare(path, byName(x), map[string]any{}, out)
		return
	}
	if y, ok := b.([]any); ok && a == nil && named(y) {
		compare(path, map[string]any{}, byName(y), out)
		return
	}
	was, is := valueText(a), valueText(b)
	if was == is {
		return
	}
	path = strings.TrimPrefix(strings.TrimPrefix(path, "spec."), "containers.")
	if at := strings.LastIndexByte(path, '.'); at > 0 && (a == nil || b == nil) && was+is == hiddenVariable {
		path, was, is = path[:at], path[at+1:], path[at+1:]
	}
	before, after := shown(was, is)
	switch {
	case a == nil:
		*out = append(*out, explain.Phrase("%s + %s", path, after))
	case b == nil:
		*out = append(*out, explain.Phrase("%s - %s", path, before))
	default:
		*out = append(*out, explain.Phrase("%s %s → %s", path, before, after))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func merged(a, b map[string]any) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}

// hiddenVariable is a redacted environment variable as JSON, without its name. The log lacks its value, so a text shows
// only the name.
const hiddenVariable = `{"value":"(redacted)"}`

// named reports whether all elements of a list are objects with a name. It is false for an empty list.
func named(list []any) bool {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return false
		}
		if _, ok := m["name"].(string); !ok {
			return false
		}
	}
	return len(list) > 0
}

func byName(list []any) map[string]any {
	out := map[string]any{}
	for _, e := range list {
		m := maps.Clone(e.(map[string]any))
		name := m["name"].(string)
		delete(m, "name")
		out[name] = m
	}
	return out
}

func valueText(v any) string {
	if v == nil {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, _ := json.Marshal(v) //nolint:errchkjson // it was read from JSON
	return string(text)
}

// How much of a value one line shows: at most mostValue bytes. If two values begin alike, it shows them from mostAlike
// bytes before the first difference.
const (
	mostValue = 60
	mostAlike = 20
)

// shown returns two different values, each cut to fit on a line. For example, two image names with digests differ
// near their ends, so each becomes "…/tiles@sha256:…", which begins 20 bytes before the first difference.
func shown(a, b string) (was, is explain.Passage) {
	alike := 0
	for alike < min(len(a), len(b)) && a[alike] == b[alike] {
		alike++
	}
	from := 0
	if alike > mostValue-mostAlike {
		from = alike - mostAlike
	}
	return explain.Passage{Cut: excerptFrom(a, from), Whole: a}, explain.Passage{Cut: excerptFrom(b, from), Whole: b}
}

// excerptFrom returns the part of a value that begins at byte from, or the whole value if it fits on a line.
func excerptFrom(s string, from int) string {
	if len(s) <= mostValue || from == 0 {
		return explain.Begin(s, mostValue)
	}
	return "…" + strings.ToValidUTF8(explain.Begin(s[from:], mostValue), "")
}
