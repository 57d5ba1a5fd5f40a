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

// writeTagged answers with JSON, and an ETag that is the hash of its bytes. If the client has these bytes already, it
// answers 304 Not Modified.
func writeTagged(w http.ResponseWriter, r *http.Request, text []byte) {
	sum := sha256.Sum256(text)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	w.Header().Set("Cache-Control", "no-cache") // clients may store the answer, but must ask whether it is still valid
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// asOfText returns the value of the header Jobledger-As-Of: the number of a record, and its time if known.
func asOfText(at history.Place) string {
	text := strconv.FormatUint(at.Sequence, 10)
	if stamp, err := at.Time.MarshalText(); err == nil && at.Time != 0 {
		text += " " + string(stamp)
	}
	return text
}
