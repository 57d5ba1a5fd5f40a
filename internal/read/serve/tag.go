package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/internal/read/history"
)

// writeTagged writes JSON with an ETag, the hash of its bytes, or says that who asks has it already (304).
func writeTagged(w http.ResponseWriter, r *http.Request, text []byte) {
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache") // ask again each time, with the tag
	if has(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // who asked may be gone
}

// has reports whether lists of tags name one, strong or weak (RFC 9110, 13.1.2); * names each.
func has(lists []string, tag string) bool {
	for _, list := range lists {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// asOfText writes a place for a header: the record, and its time if that is known.
func asOfText(at history.Place) string {
	text := strconv.FormatUint(at.Sequence, 10)
	if stamp, err := at.Time.MarshalText(); err == nil && at.Time != 0 {
		text += " " + string(stamp)
	}
	return text
}
