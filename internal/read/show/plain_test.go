package show

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"its only try exited 1 (container main); backoffLimit is 0": "its only try exited 1 (container main); backoffLimit is 0",
		"seen 09:27:12.697, 0.5 s later":                            "seen 09:27:12.697, 0.5 s later",
		"call @here now":                                            "call `@here` now",
		`call \@here`:                                               "call `\\@here`",
		"see https://evil.example/?a=b, @channel":                   "see `https://evil.example/?a=b, @channel`",
		"see www.evil.example":                                      "see `www.evil.example`",
		"image registry.example/app:1 is not there":                 "image `registry.example/app:1` is not there",
		"mail a@b.example":                                          "mail `a@b.example`",
		"`rm` *this* <b>":                                           "`'rm' *this* <b>`",
		"[a](b) ![c](d) #12 ~x~ a_b":                                "`[a](b) ![c](d) #12 ~x~ a_b`",
		"":                                                          "",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestNothingLiveOutsideOfSpans: whatever others write, outside of code spans there is nothing that a chat makes
// something of.
func TestNothingLiveOutsideOfSpans(t *testing.T) {
	pieces := []string{
		"@here", "@channel", "https://a.example", "HTTP://A.EXAMPLE", "www.a.example", "WWW.x", "a.example", "*b*", "_c_", "`d`", "``", "<e>",
		"[f](g)", "\\", "#1", "~~h~~", "|", "&amp;", "!", "word", "1.5", " ", "  ", "\n", "\t", "\u202e", "'", "(", ")",
	}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		var text strings.Builder
		for range 1 + r.IntN(12) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		got := plain(text.String())
		spans := strings.Split(got, "`")
		if len(spans)%2 == 0 {
			t.Fatalf("%q has a span that does not end: %q", text.String(), got)
		}
		for i := 0; i < len(spans); i += 2 {
			lower := strings.ToLower(spans[i])
			if strings.ContainsAny(lower, "@*_<>[]\\#~|&!") || strings.Contains(lower, "://") || strings.Contains(lower, "www.") ||
				strings.Contains(lower, "a.example") {
				t.Fatalf("%q is %q: %q is live", text.String(), got, spans[i])
			}
		}
	}
}
