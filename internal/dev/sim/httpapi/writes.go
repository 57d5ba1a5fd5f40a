package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// note writes a line to Config.Writes about a request that is not a read.
func (s *Server) note(r *http.Request, body []byte) {
	if s.cfg.Writes == nil || r.Method == http.MethodGet {
		return
	}
	if _, err := fmt.Fprintf(s.cfg.Writes, "%s %s %s\n", r.Method, r.URL.Path, asJSON(body)); err != nil {
		panic(err) // a list of writes in which one is missing proves nothing
	}
}

// asJSON returns a body as JSON on one line. It converts a protobuf object to JSON.
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
