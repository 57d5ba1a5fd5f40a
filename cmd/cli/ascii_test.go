package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/internal/read/show"
)

// TestASCIILosesNothing: texts of other programs are escaped as in JSON, wherever a write ends. A JSON document still
// has the same values.
func TestASCIILosesNothing(t *testing.T) {
	const text = "größe 你好 😀 → … \xff"
	for cut := range len(text) {
		var out bytes.Buffer
		w := &asciiWriter{Writer: &out}
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if want := `gr\u00f6\u00dfe \u4f60\u597d \ud83d\ude00 > ~ \xff`; out.String() != want {
			t.Errorf("cut at %d: %s, want %s", cut, out.String(), want)
		}
	}
	value := map[string]string{"größe": "😀 → … \"x\"", "plain": "a: b", "rude": "\x01<00e4>"}
	document, err := show.Indented(value)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{FormatJSON, FormatYAML} {
		var out bytes.Buffer
		c := &CLI{Out: &out, Err: &out, Getenv: func(string) string { return "" }}
		c.SpeakASCII()
		c.ASCII.JSON = format == FormatJSON
		if err := c.Document(format, document); err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		into := yaml.Unmarshal
		if format == FormatJSON {
			into = func(b []byte, v any, _ ...yaml.JSONOpt) error { return json.Unmarshal(b, v) }
		}
		if err := into(out.Bytes(), &back); err != nil || !reflect.DeepEqual(back, value) {
			t.Errorf("%s gives %q back, %v:\n%s", format, back, err, out.String())
		}
	}
}

// TestWhichLocaleAsksForASCII: the first variable that is set counts.
func TestWhichLocaleAsksForASCII(t *testing.T) {
	for _, row := range []struct {
		env  map[string]string
		asks bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "POSIX"}, true},
		{map[string]string{"LANG": "de_DE"}, true},
		{map[string]string{"LANG": "de_DE.utf8"}, false},
		{map[string]string{"LANG": "C.UTF-8"}, false},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, true},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C", "LC_ALL": "en_US.UTF-8"}, false},
	} {
		if got := AsksForASCII(func(name string) string { return row.env[name] }); got != row.asks {
			t.Errorf("%v: %v", row.env, got)
		}
	}
}
