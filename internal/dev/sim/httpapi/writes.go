package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// note writes a line about a request to Config.Writes, unless the request is a read.
func (s *Server) note(r *http.Request, body []byte) {
	if s.cfg.Writes == nil || r.Method == http.MethodGet {
		return
	}
	if _, err := fmt.Fprintf(s.cfg.Writes, "%s %s %s\n", r.Method, r.URL.Path, asJSON(body)); err != nil {
		panic(err) // stop the test: a list that lacks a write would prove nothing
	}
}

// asJSON returns the body of a request as JSON on one line. A body in protobuf is converted.
func asJSON(body []byte) []byte {
	var line bytes.Buffer
	if json.Compact(&line, body) == nil {
		return line.Bytes()
	}
	object, err := decodeAny(body)
	if err == nil {
		if text, err := json.Marshal(object); err == nil {
			return text
		}
	}
	return fmt.Appendf(nil, "%q", body)
}
