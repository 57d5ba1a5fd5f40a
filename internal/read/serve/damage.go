package serve

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// damageHeader is the response header that names damage of the log: one header for each damaged place, with the quoted
// text of formatError. In JSON answers, the field damage has the same texts.
const damageHeader = "Jobledger-Damage"

// known returns a new collection with the damage that each answer names.
func (e *endpoint) known() *store.Damage {
	d := &store.Damage{}
	if e.config.Damage != nil {
		for _, err := range e.config.Damage() {
			d.Note(err)
		}
	}
	return d
}

// beside returns the log for one request. Damage that is met goes to d.
func (e *endpoint) beside(d *store.Damage) history.Local {
	return history.Local{Log: e.config.Log, Clock: e.config.Now, Lists: e.config.Lists, Damage: d}
}

// writeBeside answers with the value v as JSON, and the damage in d.
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
	_, _ = w.Write(append(recordjson.WithDamage(text, d.Met()), '\n')) // an error means that the client has gone
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
