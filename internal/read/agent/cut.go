package agent

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/jobledger/jobledger/internal/say/words"
)

// beside is the second part of a tool's answer, as JSON; the first part is Markdown.
type beside struct {
	AsOf   uint64          `json:"asOfRecord"`
	Cut    []string        `json:"cut,omitempty"` // for each list in Answer that was shortened, a text that says so
	Answer json.RawMessage `json:"answer"`
}

// fitted returns the answer as JSON with at most `most` bytes. While it is longer, fitted cuts the longest list in
// half. cut has a text for each list that was shortened: "answer.items: 15 of 60 items".
func fitted(answer []byte, most int) (out json.RawMessage, cut []string, err error) {
	if len(answer) <= most {
		var b bytes.Buffer
		err := json.Compact(&b, answer)
		return b.Bytes(), nil, err
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, nil, fmt.Errorf("read the JSON of an answer: %w", err)
	}
	shown := map[string][2]int{}
	for {
		if out, err = json.Marshal(value); err != nil || len(out) <= most {
			break
		}
		longest := longestList(value, "answer")
		if longest == nil {
			out = json.RawMessage(`null`)
			cut = append(cut, "answer: all of it; ask for less")
			break
		}
		was := shown[longest.path]
		was[1] = max(was[1], len(longest.items))
		was[0] = len(longest.items) / 2
		shown[longest.path] = was
		longest.set(longest.items[:was[0]])
	}
	for path, n := range shown {
		cut = append(cut, fmt.Sprintf("%s: %d of %s", path, n[0], words.Count(n[1], "item")))
	}
	return out, cut, err
}

// list is an array in a JSON value: where it is (path), and its size.
type list struct {
	path  string
	bytes int
	items []any
	set   func([]any)
}

// longestList returns the array in value with the most bytes, not counting arrays inside another array; nil if there is
// none.
func longestList(value any, path string) (longest *list) {
	object, is := value.(map[string]any)
	if !is {
		return nil
	}
	for name, v := range object {
		found := longestList(v, path+"."+name)
		if items, is := v.([]any); is && len(items) > 0 {
			text, _ := json.Marshal(items) // cannot fail: items were decoded from JSON
			found = &list{path + "." + name, len(text), items, func(shorter []any) { object[name] = shorter }}
		}
		if found == nil {
			continue
		}
		if longest == nil || found.bytes > longest.bytes || found.bytes == longest.bytes && found.path < longest.path {
			longest = found
		}
	}
	return longest
}
