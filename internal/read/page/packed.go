package page

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"net/http"
	"strings"
)

const (
	leastPacked = 1 << 10 // bytes of a document that is worth compressing
	mostJitter  = 32      // bytes
)

// packed compresses a document for a client that takes gzip, sets the headers that say so, and returns what to send. It
// returns a document that is small, or of which the client wants a part, as it is.
//
// The compressed document is longer by a random number of bytes. So its length does not tell whether a text that someone
// makes the page repeat is in it already (the attack known as BREACH).
func packed(h http.Header, r *http.Request, document []byte) []byte {
	h.Add("Vary", "Accept-Encoding")
	if len(document) < leastPacked || r.Header.Get("Range") != "" || !takesGzip(r) {
		return document
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Comment = strings.Repeat("-", 1+rand.N(mostJitter)) //nolint:gosec // a guess of one length does not tell the next
	_, _ = z.Write(document)                              // a buffer takes all
	_ = z.Close()
	h.Set("Content-Encoding", "gzip")
	return b.Bytes()
}

// takesGzip reports whether a request names gzip among the encodings that it takes, with a weight other than 0 (RFC 9110,
// section 12.5.3).
func takesGzip(r *http.Request) bool {
	for _, coding := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(weight, "0.") != "" || weight == ""
		}
	}
	return false
}
