package serve

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// damageHeader is the response header that names a damaged place of the log: one header for each, with the quoted text
// of formatError. In JSON answers, the field damage has the same texts.
const damageHeader = "Jobledger-Damage"

// known returns a new collection of damage for one answer. It begins with the damage that was found before.
func (e *endpoint) known() *store.Damage {
	d := &store.Damage{}
	if e.config.Damage != nil {
		for _, err := range e.config.Damage() {
			d.Note(err)
		}
	}
	return d
}

// beside returns the log for one request. It adds damage that is met to d.
func (e *endpoint) beside(d *store.Damage) history.Local {
	return history.Local{Log: e.config.Log, Clock: e.config.Now, Lists: e.config.Lists, Damage: d}
}

// writeBeside answers with the value v as JSON. It names the damage in d, in headers and in the field damage.
func writeBeside(w http.ResponseWriter, v any, d *store.Damage) {
	for _, err := range d.Met() {
		w.Header().Add(damageHeader, strconv.QuoteToASCII(formatError(err)))
	}
	if len(d.Met()) == 0 {
		writeJSON(w, v)
		return
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// If this fails, the client has closed the connection.
	_, _ = w.Write(append(recordjson.WithDamage(text, d.Met()), '\n'))
}

// damageOf returns the damage that the headers of a response name.
func damageOf(h http.Header) *store.Damage {
	d := &store.Damage{}
	for _, quoted := range h.Values(damageHeader) {
		if text, err := strconv.Unquote(quoted); err == nil {
			d.Note(parseError(text))
		}
	}
	return d
}
