package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// changed says how the Job differs from the last run of the same work that succeeded.
func (c *compared) changed() []Sentence { return append(c.sinceSuccess(), c.movedOn()...) }

func (c *compared) sinceSuccess() []Sentence {
	r := c.runs
	switch {
	case r == nil || c.added.Record == 0:
		return nil
	case r.last == nil && r.failed > 0:
		return []Sentence{say(nil, "no earlier run with %s succeeded: %d failed, as far as the log tells", r.what, r.failed)}
	case r.last == nil:
		return []Sentence{detail(say(nil, "the log has no earlier run with %s", r.what))}
	}
	s := &r.last.sum
	text := fmt.Sprintf("since the last success (%s, %s; of %d earlier runs with %s %d succeeded): ", s.Name,
		c.zone.In(events.Time(s.Finished)).Format("2 Jan 15:04:05"), r.succeeded+r.failed, r.what, r.succeeded)
	spec, template := c.firstSpec()
	from := append(slices.Clone(r.last.marks), c.added)
	diff := append(passages(specChanges(r.last.spec, spec)), templateChanges(r.last.template, template)...)
	if differs := c.admissionSince(r.last); len(differs) > 0 {
		diff, from = append(diff, passages(differs)...), append(from, c.admittedAt)
	}
	if len(diff) == 0 {
		diff = passages([]string{c.sameTemplate(r.last.spec, spec)})
	}
	took := ""
	if s.Started != 0 && s.Finished != 0 {
		took = fmt.Sprintf("; it took %s then", words.Span(events.Time(s.Finished).Sub(events.Time(s.Started))))
	}
	out := []Sentence{say(from, "%s%s%s", text, joined(diff[:min(len(diff), mostDifferences)], " · "), took)}
	if len(diff) > mostDifferences {
		out = append(out, detail(say(from, "also: %s", joined(diff[mostDifferences:], " · "))))
	}
	return out
}

// passages converts texts of which nothing was cut.
func passages(texts []string) (out []passage) {
	for _, s := range texts {
		out = append(out, passage{s, s})
	}
	return out
}

// joined is strings.Join for passages.
func joined(all []passage, sep string) (out passage) {
	for i, p := range all {
		if i > 0 {
			p = phrase("%s%s", sep, p)
		}
		out = phrase("%s%s", out, p)
	}
	return out
}

const mostDifferences = 4

// firstSpec returns the spec with which the Job was created, and its pod template.
func (c *Case) firstSpec() (*events.JobSpec, []byte) {
	spec := c.Spec
	if len(c.edits) > 0 {
		spec = c.edits[0].Before
	}
	_, template := c.contents(c.ctx, c.firstSpecAt)
	return spec, template
}

// sameTemplate says what is known about two templates whose recorded fields are equal.
func (c *compared) sameTemplate(old, now *events.JobSpec) string {
	switch {
	case old == nil || now == nil:
		return "unknown: the spec of then is no longer kept"
	case old.Key != now.Key || old.Template == "":
		return "nothing that is recorded; values of env, commands and arguments cannot be compared"
	case old.Template != now.Template:
		return "a value that is not kept in the log: of env, command, arguments or annotations"
	}
	return "nothing: spec and pod template are the same"
}

// specChanges returns the fields that differ between two specs, without the pod template.
func specChanges(old, now *events.JobSpec) []string {
	if old == nil || now == nil {
		return nil
	}
	return slices.DeleteFunc(words.SpecChanges(old, now), func(s string) bool { return s == "pod template edited" })
}

// templateChanges returns the fields that differ between two redacted templates, sorted.
func templateChanges(old, now []byte) []passage {
	var a, b map[string]any
	if json.Unmarshal(old, &a) != nil || json.Unmarshal(now, &b) != nil {
		return nil
	}
	var out []passage
	compare("", a, b, &out)
	slices.SortFunc(out, func(a, b passage) int { return cmp.Compare(a.whole, b.whole) })
	return out
}

// compare collects the differences of two JSON values: "image of main: a:1 → a:2".
func compare(path string, a, b any, out *[]passage) {
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
		*out = append(*out, phrase("%s + %s", path, after))
	case b == nil:
		*out = append(*out, phrase("%s - %s", path, before))
	default:
		*out = append(*out, phrase("%s %s → %s", path, before, after))
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

// hiddenVariable is a redacted variable of env without its name. Its value is not kept, so a line shows the name alone.
const hiddenVariable = `{"value":"(redacted)"}`

// named reports whether every element is an object with a name. An empty list is not named.
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

// A line shows at most mostValue bytes of a value. Of two values that differ late, it shows the bytes from mostAlike
// before the first difference.
const (
	mostValue = 60
	mostAlike = 20
)

// shown returns two different values, each with the part that a line shows. Two image names with digests differ near
// their ends: each line has "…/tiles@sha256:…" from 20 bytes before the first difference on.
func shown(a, b string) (was, is passage) {
	alike := 0
	for alike < min(len(a), len(b)) && a[alike] == b[alike] {
		alike++
	}
	from := 0
	if alike > mostValue-mostAlike {
		from = alike - mostAlike
	}
	return passage{excerptFrom(a, from), a}, passage{excerptFrom(b, from), b}
}

// excerptFrom returns a value from byte from on, or the whole value if a line has room for it.
func excerptFrom(s string, from int) string {
	if len(s) <= mostValue || from == 0 {
		return begin(s, mostValue)
	}
	return "…" + strings.ToValidUTF8(begin(s[from:], mostValue), "")
}
