package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/internal/read/history"
)

// writeTagged writes JSON with an ETag, the hash of its bytes. It answers 304 if the client has the same bytes already.
func writeTagged(w http.ResponseWriter, r *http.Request, text []byte) {
	sum := sha256.Sum256(text)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	w.Header().Set("Cache-Control", "no-cache") // ask again each time, with the tag
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// asOfText formats a place for AsOfHeader: the record, and its time if known.
func asOfText(at history.Place) string {
	text := strconv.FormatUint(at.Sequence, 10)
	if stamp, err := at.Time.MarshalText(); err == nil && at.Time != 0 {
		text += " " + string(stamp)
	}
	return text
}
