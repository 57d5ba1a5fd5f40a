package show

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestNoTextSteersATerminal: whatever a pod says, JSON and sentences hold visible characters only, and JSON gives it
// back.
func TestNoTextSteersATerminal(t *testing.T) {
	rude := "a\x1b[31mred\a\r\n\u009b2J\u202eevil\x00\u2028\U000e0041\xff\\\"end"
	r := events.Record{
		Header:   events.Header{Sequence: 1, Stream: events.JobStream("u"), Kind: events.KindPodChanged},
		Facts:    &events.PodSeen{Phase: events.PodFailed, Index: events.NoIndex},
		Evidence: events.Evidence{Name: rude, Message: rude, Reason: "r"},
	}
	line := recordjson.Record(&r)
	var back struct{ Evidence struct{ Message string } }
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	want := "a\x1b[31mred\a\r\n\u009b2J\u202eevil\x00\u2028\U000e0041\ufffd\\\"end"
	if back.Evidence.Message != want {
		t.Errorf("JSON gives %q, want %q", back.Evidence.Message, want)
	}
	var names words.Names
	pretty, err := Indented(history.Job{Name: rude})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(line), names.Detail(&r), names.Object(&r), words.Clean(rude), string(bytes.ReplaceAll(pretty, []byte("\n"), nil))} {
		for _, c := range text {
			if !unicode.IsPrint(c) {
				t.Errorf("%q holds %q", text, c)
			}
		}
	}
	if got := words.Clean("plain – größe 你好 “x”"); got != "plain – größe 你好 “x”" {
		t.Errorf("a harmless text became %q", got)
	}
}
