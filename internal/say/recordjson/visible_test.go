package recordjson

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/jobledger/jobledger/events"
)

// TestEveryTextComesBack: whatever a text holds, its JSON is visible and gives it back, alone and within a JSON text of
// others.
func TestEveryTextComesBack(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	runes := []rune{'a', ' ', '"', '\\', '\n', '\t', '\r', 0, 0x1b, 0x7f, 0x85, 0xa0, 0x200b, 0x2028, 0x202e, 'é', '世', 0xffff, 0x10000, 0x1f4a5, 0xe0041, 0x10ffff, '\ufffd'}
	for range 3000 {
		var b strings.Builder
		for range random.IntN(8) {
			b.WriteRune(runes[random.IntN(len(runes))])
		}
		text := b.String()
		plain, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, written := range [][]byte{quote(text), VisibleJSON(plain), embedded(append([]byte("  "), plain...))} {
			var back string
			if err := json.Unmarshal(written, &back); err != nil || back != text {
				t.Fatalf("%q is written %q, which is %q (%v)", text, written, back, err)
			}
			if i := strings.IndexFunc(string(written), func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Fatalf("%q is written %q", text, written)
			}
		}
	}
	for text, want := range map[string]string{"a\nb\t\"\\": `"a\nb\t\"\\"`, "\x1b": `"\u001b"`, "\U000e0041": `"\udb40\udc41"`, "\uffff": `"\uffff"`, "世": `"世"`} {
		if got := string(quote(text)); got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
	if got := string(VisibleJSON([]byte("{\n  \"a\": \"\x7f\"\n}"))); got != "{\n  \"a\": \"\\u007f\"\n}" {
		t.Errorf("lines of JSON are written %q", got)
	}
	if embedded(nil) != nil || embedded([]byte("{")) != nil {
		t.Error("what is no JSON is embedded")
	}
}

// TestDamageStandsInTheObject: as the last member, and only where there is some, and an object for it.
func TestDamageStandsInTheObject(t *testing.T) {
	bad := []error{errors.New("record 7\x1b"), errors.New("record 9")}
	for _, row := range []struct {
		object string
		damage []error
		want   string
	}{
		{"{\n  \"a\": 1\n}", bad, "{\n  \"a\": 1,\n  \"damage\": [\n    \"record 7\\u001b\",\n    \"record 9\"\n  ]\n}"},
		{"{\n  \"a\": 1\n}", nil, "{\n  \"a\": 1\n}"}, {"[]", bad, "[]"},
	} {
		if got := string(WithDamage([]byte(row.object), row.damage)); got != row.want {
			t.Errorf("%q with %v is %q, want %q", row.object, row.damage, got, row.want)
		}
	}
}

// TestAnInstantIsReadBack: also one that is not set.
func TestAnInstantIsReadBack(t *testing.T) {
	for _, want := range []Instant{0, 1, 1_772_452_800_000_000_001} {
		got := Instant(99)
		text, err := want.MarshalText()
		if err == nil {
			err = got.UnmarshalText(text)
		}
		if err != nil || got != want {
			t.Errorf("%d is read back as %d: %v", want, got, err)
		}
	}
	if new(Instant).UnmarshalText([]byte("noon")) == nil {
		t.Error("noon is a time")
	}
}

// TestFactsThatAreNone, a Job that has not ended, and policies of a spec, which are objects.
func TestFactsThatAreNone(t *testing.T) {
	for want, got := range map[string][]byte{
		"null": Facts(nil), "{}": Facts(&events.JobRetired{Succeeded: 1}),
		`{"result":"Complete","succeeded":1,"failed":0}`: Facts(&events.JobRetired{Result: events.ResultComplete, Succeeded: 1}),
		`{"hash":"h","successPolicy":{"rules":[]}}`:      Facts(&events.JobPolicies{Hash: "h", SuccessPolicy: `{"rules": []}`}),
	} {
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := string(Facts((*events.JobSeen)(nil))); got != "null" {
		t.Errorf("a pointer to nothing is %s", got)
	}
	if got := string(Spec(&events.JobSpec{Hash: "h", Selector: "{}", PodFailurePolicy: `{"a":1}`, SuccessPolicy: `{"b":2}`})); !strings.HasSuffix(got, `"selector":{},"podFailurePolicy":{"a":1},"successPolicy":{"b":2}}`) ||
		strings.Count(got, "olicy") != 2 {
		t.Errorf("the spec is %s", got)
	}
	if Spec(nil) != nil {
		t.Error("there is a spec of nothing")
	}
	if got := string(RecordOf(&events.Record{Facts: &events.TimerFired{}}, "ns", "demo")); !strings.Contains(got, `"namespace":"ns","job":"demo"`) {
		t.Errorf("the record is %s", got)
	}
}
