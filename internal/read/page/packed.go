package page

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"net/http"
	"strings"
)

const (
	leastPacked = 1 << 10 // bytes; a smaller document is sent uncompressed
	mostJitter  = 32      // largest number of random bytes that are added
)

// packed returns a document as it is to be sent, and sets the headers that describe it. It compresses the document with
// gzip if the client takes gzip. A small document, and one of which the client wants only a part (Range), stays as it
// is.
//
// A random number of bytes is added to the compressed document, because its length would be a side channel. An attacker
// who makes the page repeat a guessed text could see from the length whether the page has the text already (BREACH).
func packed(h http.Header, r *http.Request, document []byte) []byte {
	h.Add("Vary", "Accept-Encoding")
	if len(document) < leastPacked || r.Header.Get("Range") != "" || !takesGzip(r) {
		return document
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Comment = strings.Repeat("-", 1+rand.N(mostJitter)) //nolint:gosec // a guess of one length does not tell the next
	_, _ = z.Write(document)                              // a write to a buffer cannot fail
	_ = z.Close()
	h.Set("Content-Encoding", "gzip")
	return b.Bytes()
}

// takesGzip reports whether the Accept-Encoding of a request has gzip with a weight other than 0 (RFC 9110, section
// 12.5.3).
func takesGzip(r *http.Request) bool {
	for _, coding := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(weight, "0.") != "" || weight == ""
		}
	}
	return false
}
