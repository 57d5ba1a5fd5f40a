package page

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"net/http"
	"strings"
)

const (
	leastPacked = 1 << 10 // bytes; smaller documents are not compressed
	mostJitter  = 32      // most random bytes that are added to a compressed document
)

// packed returns the bytes to send for a document, and sets the headers that describe them. It compresses the document
// with gzip if the client accepts that. It does not compress a small document, or one of which the client wants only a
// part (Range).
//
// It adds a random number of bytes to a compressed document, because the length would otherwise tell an attacker too
// much: who makes the page repeat a guessed text could see from the length whether the page has that text (BREACH).
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
